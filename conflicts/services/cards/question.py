"""Set the question of a waiting card, from a finding or from its live members."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding
from conflicts.core.questions import ask_ambiguity
from conflicts.core.subjects import note_of, select_answering
from conflicts.models import Conflict, ConflictMember
from conflicts.models.card import ConflictKind
from memories.core.content import normalise_quote
from memories.models import State

QUESTION_MAX_CHARS = 400


def live_members(card: Conflict, now: datetime) -> list[ConflictMember]:
    """Return the members of a card that agents recall."""
    members = card.members.select_related("memory")
    return [m for m in members if m.memory.state(now) == State.ACTIVE]


def set_question_from_finding(card: Conflict, finding: Finding) -> None:
    """Set a locked card's question and sides from a finding; the caller saves the card."""
    card.kind = finding.kind
    card.question = finding.question[:QUESTION_MAX_CHARS]
    card.reasoning = finding.reasoning
    card.suggested_verdict = finding.suggestion or ""
    card.members.update(says_yes=False)
    card.members.filter(memory__in=[UUID(i) for i in finding.yes_keeps]).update(says_yes=True)


def rebuild_question(card: Conflict, *, now: datetime, known: Comparisons | None = None) -> None:
    """Rebuild the question from the texts of the live members; nothing of the old text stays.

    Without `known` no claims are compared, for callers that hold locks: members keep their sides; a
    reworded one stays for yes only when no other member is.
    """
    live = live_members(card, now)
    if len(live) < 2:
        return
    for_yes = [m for m in live if m.says_yes]
    named = next(
        iter([m for m in reversed(for_yes) if not m.is_reworded] or for_yes[-1:]), live[-1]
    )
    same = {m.pk for m in live if _is_for_yes(m, named, known)}
    is_other = known.are_of_other_subjects if known else lambda a, b: False
    on_subject = select_answering(live, lambda m: note_of(m.memory), [named], is_other=is_other)
    others = [m for m in on_subject if m.pk not in same] or [m for m in live if m != named]
    card.kind = ConflictKind.AMBIGUITY
    card.question = ask_ambiguity(named.memory.content, others[-1].memory.content)
    card.reasoning = card.model_reasoning = ""
    card.suggested_verdict = ""
    card.members.update(says_yes=False)
    card.members.filter(pk__in=same).update(says_yes=True)
    save_question(card, "model_reasoning", now=now)


def _is_for_yes(member: ConflictMember, named: ConflictMember, known: Comparisons | None) -> bool:
    """Return whether a member makes the claim that the question names."""
    if member == named:
        return True
    mine, claim = member.memory.content, named.memory.content
    if known is not None:
        return known.says_the_same(mine, claim)
    is_unchanged = member.says_yes and not member.is_reworded
    return is_unchanged or normalise_quote(mine) == normalise_quote(claim)


def save_question(card: Conflict, *others: str, now: datetime) -> None:
    """Save a card's question, and the named other fields, as a new version."""
    card.version += 1
    card.updated_at = now
    fields = ("kind", "question", "reasoning", "suggested_verdict")
    card.save(update_fields=[*fields, *others, "version", "updated_at"])


def number_members(members: Sequence[ConflictMember]) -> list[ConflictMember]:
    """Number members by time, and save them."""
    ordered = sorted(
        members, key=lambda m: (m.memory.observed_at, m.memory.created_at, m.memory_id)
    )
    for position, member in enumerate(ordered):
        member.position = position
        member.save()
    return ordered
