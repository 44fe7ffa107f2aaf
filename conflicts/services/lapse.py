"""What becomes of open cards when their memories go, come back or are reworded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q

from conflicts.core.identity import says_the_same
from conflicts.core.questions import ask_ambiguity
from conflicts.core.subjects import answering, note_of
from conflicts.models import Conflict, ConflictMember, ConflictPair
from conflicts.models.card import WAITING, ConflictKind, ConflictStatus, LapseReason
from conflicts.services.decided import wordings
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from memories.core.content import normalised
from memories.models import Memory, State

QUOTE_CHARS = 12  # a shorter statement is only found where it stands alone
TAKEN_OUT = "Taken out: it quoted a memory that was forgotten."


def note_hidden(sender: Any, *, memory_ids: Sequence[UUID], now: datetime, **_: Any) -> None:
    """Close open cards that lost their question; ask the others without what was forgotten."""
    for card in _locked(Q(status__in=WAITING), memory_ids):
        _narrow(card, now=now)


def note_revived(sender: Any, *, memory_ids: Sequence[UUID], now: datetime, **_: Any) -> None:
    """Open lapsed cards again whose memories are back, unless another card asks by now."""
    for card in _locked(Q(is_lapsed=True), memory_ids):
        live = {m.lineage for m in live_members(card, now)}
        if not card.pairs.filter(lineage_low__in=live, lineage_high__in=live).exists():
            continue
        card.status = ConflictStatus.OPEN
        card.is_lapsed = False
        card.lapse_reason = ""
        card.snoozed_until = None
        _save(card, "status", "is_lapsed", "lapse_reason", "snoozed_until", now=now)
        record("conflict.reopened", of=("conflict", card.id), actor=SYSTEM, now=now)
        _narrow(card, now=now)


def note_reworded(
    sender: Any,
    *,
    memory_ids: Sequence[UUID],
    now: datetime,
    created: Collection[UUID] = (),
    **_: Any,
) -> None:
    """Ask no longer about words that are gone.

    What the rules alone found lapses: they read the new words next and ask again if they still
    disagree. What somebody reported is asked anew. No card asks about what was just created.
    """
    stood_before = [memory_id for memory_id in memory_ids if memory_id not in created]
    for card in _locked(Q(status__in=WAITING), stood_before) if stood_before else ():
        members = list(card.members.select_related("memory"))
        before = wordings(members)
        changed = [m for m in members if m.revision != m.memory.revision]
        for member in changed:
            member.revision = member.memory.revision
        ConflictMember.objects.bulk_update(changed, ["revision"])
        if all(says_the_same(before[m.pk], m.memory.content) for m in changed):
            continue
        if card.detected_by == ["rules"]:
            lapse(card, LapseReason.REWORDED, now=now)
            card.pairs.all().delete()
        else:
            ask_anew(card, now=now)


def lapse_expired(now: datetime) -> None:
    """Close the waiting cards of the workspace whose memories have expired meanwhile."""
    live = Q(members__memory__in=Memory.objects.recallable(now))
    lapsed = Conflict.objects.filter(status__in=WAITING).annotate(n=Count("members", filter=live))
    for card in _locked(Q(status__in=WAITING, pk__in=lapsed.filter(n__lt=2).values("pk"))):
        _narrow(card, now=now)


def _locked(wanted: Q, memory_ids: Collection[UUID] | None = None) -> Iterable[Conflict]:
    """Return the cards, of these memories if given, locked in the order of their ids."""
    cards = Conflict.objects.filter(wanted)
    if memory_ids is not None:
        members = ConflictMember.objects.filter(memory__in=memory_ids)
        cards = cards.filter(pk__in=members.values("conflict_id"))
    return list(cards.order_by("pk").select_for_update())


def live_members(card: Conflict, now: datetime) -> list[ConflictMember]:
    """Return the members of a card that agents recall."""
    members = card.members.select_related("memory")
    return [m for m in members if m.memory.state(now) == State.ACTIVE]


def _narrow(card: Conflict, *, now: datetime) -> None:
    """Close a card with fewer than two live memories; take forgotten ones out of a wider one."""
    if len(live_members(card, now)) < 2:
        lapse(card, LapseReason.GONE, now=now)
        return
    forgotten = card.members.exclude(memory__forgotten_at=None)
    if lineages := list(forgotten.values_list("lineage", flat=True)):
        _withhold(card, list(forgotten.values_list("memory_id", "memory__content")))
        of_them = Q(lineage_low__in=lineages) | Q(lineage_high__in=lineages)
        ConflictPair.objects.filter(of_them, conflict=card).delete()
        forgotten.delete()
        ask_anew(card, now=now)


def _withhold(card: Conflict, forgotten: Sequence[tuple[UUID, str]]) -> None:
    """Take what quotes forgotten members out of a card that asks on without them."""
    of_them = [memory_id for memory_id, _ in forgotten]
    about = Q(memory__in=of_them) | Q(other__in=of_them)
    card.judgements.filter(about).exclude(reason="").update(reason=TAKEN_OUT)
    wordings_gone = [normalised(content) for _, content in forgotten]
    for rows, name in (
        (card.judgements, "reason"), (card.comments, "text"), (card.decisions, "note"),
    ):  # fmt: skip
        for row in rows.exclude(**{name: TAKEN_OUT}):
            said = normalised(getattr(row, name))
            if any(w == said or (len(w) >= QUOTE_CHARS and w in said) for w in wordings_gone):
                setattr(row, name, TAKEN_OUT)
                row.save(update_fields=[name])


def lapse(card: Conflict, reason: LapseReason, *, now: datetime, by: UUID | None = None) -> None:
    """Close a locked card that has no question any more; `by` is the card that asks instead."""
    card.status = ConflictStatus.RESOLVED
    card.is_lapsed = True
    card.lapse_reason = reason
    card.snoozed_until = None
    _save(card, "status", "is_lapsed", "lapse_reason", "snoozed_until", now=now)
    told = {"verdict": None, "status": "resolved", "lapsed": True, "reason": str(reason)}
    if by is not None:
        told["by"] = str(by)
    record("conflict.resolved", of=("conflict", card.id), actor=SYSTEM, now=now, data=told)


def ask_anew(card: Conflict, *, now: datetime) -> None:
    """Make the question from what the live members say now; nothing of the old text stays."""
    live = live_members(card, now)
    if len(live) < 2:
        return
    named = next((m for m in reversed(live) if m.says_yes), live[-1])
    same = {m.pk for m in live if says_the_same(m.memory.content, named.memory.content)}
    asked = answering(live, lambda m: note_of(m.memory), [named])
    others = [m for m in asked if m.pk not in same] or [m for m in live if m != named]
    card.kind = ConflictKind.AMBIGUITY
    card.question = ask_ambiguity(named.memory.content, others[-1].memory.content)
    card.reasoning = ""
    card.suggested_verdict = ""
    card.members.update(says_yes=False)
    card.members.filter(pk__in=same).update(says_yes=True)
    _save(card, "kind", "question", "reasoning", "suggested_verdict", now=now)


def _save(card: Conflict, *fields: str, now: datetime) -> None:
    card.version += 1
    card.updated_at = now
    card.save(update_fields=[*fields, "version", "updated_at"])
