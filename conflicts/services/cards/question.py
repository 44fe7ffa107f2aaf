"""The question of a card that waits: made from a finding, or from what its live members say."""

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


def ask_finding(card: Conflict, finding: Finding) -> None:
    """Let a locked card ask what a finding asks, who says yes included; the caller saves it."""
    card.kind = finding.kind
    card.question = finding.question[:QUESTION_MAX_CHARS]
    card.reasoning = finding.reasoning
    card.suggested_verdict = finding.suggestion or ""
    card.members.update(says_yes=False)
    card.members.filter(memory__in=[UUID(i) for i in finding.yes_keeps]).update(says_yes=True)


def ask_anew(card: Conflict, *, now: datetime, known: Comparisons | None = None) -> None:
    """Make the question from what the live members say now; nothing of the old text stays.

    Without `known` no claims are compared, for who holds up other writers: members stay on their
    sides, a reworded one stays for yes when nobody else is.
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
    asked = select_answering(live, lambda m: note_of(m.memory), [named], is_other=is_other)
    others = [m for m in asked if m.pk not in same] or [m for m in live if m != named]
    card.kind = ConflictKind.AMBIGUITY
    card.question = ask_ambiguity(named.memory.content, others[-1].memory.content)
    card.reasoning = ""
    card.suggested_verdict = ""
    card.members.update(says_yes=False)
    card.members.filter(pk__in=same).update(says_yes=True)
    save_question(card, now=now)


def _is_for_yes(member: ConflictMember, named: ConflictMember, known: Comparisons | None) -> bool:
    """Tell whether a member says what the question names."""
    if member == named:
        return True
    mine, claim = member.memory.content, named.memory.content
    if known is not None:
        return known.says_the_same(mine, claim)
    is_as_it_was = member.says_yes and not member.is_reworded
    return is_as_it_was or normalise_quote(mine) == normalise_quote(claim)


def save_question(card: Conflict, *others: str, now: datetime) -> None:
    """Save what a card asks, and its other fields that changed with it, as a new version."""
    card.version += 1
    card.updated_at = now
    asked = ("kind", "question", "reasoning", "suggested_verdict")
    card.save(update_fields=[*asked, *others, "version", "updated_at"])


def in_order(members: Sequence[ConflictMember]) -> list[ConflictMember]:
    """Number members in the order of the story, and save them."""
    ordered = sorted(
        members, key=lambda m: (m.memory.observed_at, m.memory.created_at, m.memory_id)
    )
    for position, member in enumerate(ordered):
        member.position = position
        member.save()
    return ordered
