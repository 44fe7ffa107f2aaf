"""Close waiting cards without a verdict, follow what hides their memories, and reopen them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from conflicts.models import Conflict, ConflictComment, ConflictMember, ConflictPair, Judgement
from conflicts.models.card import WAITING, ConflictStatus, LapseReason
from conflicts.services.cards.finders import further_rules
from conflicts.services.cards.locks import lock_cards
from conflicts.services.cards.question import live_members, number_members, rebuild_question
from conflicts.services.cards.unlisted import count_unlisted, read_unlisted_again
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.models import Event
from memories.core.content import normalise_quote
from memories.models import Memory, State
from memories.services.index.statement_hashes import texts_of

QUOTE_CHARS = 12  # a shorter statement only matches a whole text
TAKEN_OUT = "Taken out: it quoted a memory that was forgotten."


def note_hidden(sender: Any, *, memory_ids: Sequence[UUID], now: datetime, **_: Any) -> None:
    """Update the cards of hidden memories: add successors, remove forgotten members, or close.

    Cards that a forgotten memory has left earlier may quote it too: their texts are removed.
    """
    hidden = Memory.objects.filter(pk__in=memory_ids)
    forgotten = set(hidden.exclude(forgotten_at=None).order_by().values_list("pk", flat=True))
    own = ConflictMember.objects.filter(memory__in=memory_ids)
    waiting = Q(status__in=WAITING, pk__in=own.values("conflict_id"))
    for card in lock_cards(waiting | Q(pk__in=_cards_ever_of(forgotten))):
        held = set(card.members.values_list("memory_id", flat=True))
        if left := forgotten - held:
            _withhold(card, left)
        if card.status in WAITING:
            _add_successors(card, memory_ids, now=now)
            _narrow(card, now=now)


def note_revived(sender: Any, *, memory_ids: Sequence[UUID], now: datetime, **_: Any) -> None:
    """Reopen lapsed cards whose memories are live again, unless another card has the pair now."""
    for card in lock_cards(Q(is_lapsed=True), memory_ids):
        live = {m.lineage for m in live_members(card, now)}
        if not card.pairs.filter(lineage_low__in=live, lineage_high__in=live).exists():
            continue
        card.status = ConflictStatus.OPEN
        card.is_lapsed = False
        card.lapse_reason = ""
        card.snoozed_until = None
        _save(card, "status", "is_lapsed", "lapse_reason", "snoozed_until", now=now)
        record(
            "conflict.reopened", of=("conflict", card.id), actor=SYSTEM, now=now,
            data={"revived": True},
        )  # fmt: skip
        _narrow(card, now=now)


def _cards_ever_of(memory_ids: Collection[UUID]) -> set[UUID]:
    """Return the ids of the cards that memories are or were members of, by their events."""
    if not memory_ids:
        return set()
    joined = Event.objects.filter(object_id__in=map(str, memory_ids), type="memory.disputed")
    return {UUID(card) for card in joined.order_by().values_list("data__conflict", flat=True)}


def lapse_expired(now: datetime) -> None:
    """Close the waiting cards of the workspace whose memories have expired."""
    for card in lock_cards(Q(status__in=WAITING, pk__in=expired_cards(now).values("pk"))):
        _narrow(card, now=now)


def expired_cards(now: datetime) -> QuerySet[Conflict]:
    """Return the waiting cards with fewer than two memories that are live."""
    live = Q(members__memory__in=Memory.objects.recallable(now))
    waiting = Conflict.objects.filter(status__in=WAITING)
    return waiting.annotate(n=Count("members", filter=live)).filter(n__lt=2)


def _add_successors(card: Conflict, hidden: Sequence[UUID], *, now: datetime) -> None:
    """Add the live successors of hidden members to a locked card, and rebuild its question.

    Only successors of the same lineage: others are another memory's claim. The next detection run
    checks whether they still contradict the other members (`reworded.settle_reworded`).
    """
    members = list(card.members.select_related("memory__superseded_by"))
    held = {member.memory_id for member in members}
    added: list[ConflictMember] = []
    for member in members:
        successor = member.memory.superseded_by
        if (
            member.memory_id not in hidden
            or successor is None
            or successor.lineage != member.lineage
            or successor.id in held
            or successor.state(now) != State.ACTIVE
        ):
            continue
        added.append(
            ConflictMember(
                conflict=card,
                memory=successor,
                lineage=successor.lineage,
                revision=successor.revision,
                says_yes=member.says_yes,
                is_reworded=True,
            )
        )
        data = {"conflict": str(card.id)}
        record("memory.disputed", of=("memory", successor.id), actor=SYSTEM, now=now, data=data)
    if added:
        number_members([*members, *added])
        rebuild_question(card, now=now)


def _narrow(card: Conflict, *, now: datetime) -> None:
    """Close a card with fewer than two live memories; else remove its forgotten members."""
    if len(live_members(card, now)) < 2:
        lapse(card, LapseReason.GONE, now=now)
        return
    forgotten = card.members.exclude(memory__forgotten_at=None)
    if gone := set(forgotten.values_list("lineage", flat=True)):
        _withhold(card, set(forgotten.values_list("memory_id", flat=True)))
        kept = card.members.filter(lineage__in=gone, memory__forgotten_at=None)
        lineages = list(gone.difference(kept.values_list("lineage", flat=True)))
        of_them = Q(lineage_low__in=lineages) | Q(lineage_high__in=lineages)
        ConflictPair.objects.filter(of_them, conflict=card).delete()
        forgotten.delete()
        rebuild_question(card, now=now)


def _withhold(card: Conflict, forgotten: Collection[UUID]) -> None:
    """Replace the reasons, comments and notes of a card that quote a forgotten memory's texts."""
    about = Q(memory__in=forgotten) | Q(other__in=forgotten)
    card.judgements.filter(about).exclude(reason="").update(reason=TAKEN_OUT)
    wordings_gone = {normalise_quote(text) for text in texts_of(forgotten)}
    for rows, name in (
        (card.judgements, "reason"), (card.comments, "text"), (card.decisions, "note"),
    ):  # fmt: skip
        for row in rows.exclude(**{name: TAKEN_OUT}):
            text = normalise_quote(getattr(row, name))
            if any(w == text or (len(w) >= QUOTE_CHARS and w in text) for w in wordings_gone):
                setattr(row, name, TAKEN_OUT)
                row.save(update_fields=[name])


def absorb(card: Conflict, *, now: datetime) -> None:
    """Close the waiting cards whose members are all members of this card.

    So contradictions that were reported pair by pair become one question. Pairs, comments and
    agents' judgements move to this card; the closed cards lapse.
    """
    held = set(card.members.values_list("lineage", flat=True))
    theirs = ConflictMember.objects.filter(lineage__in=held).exclude(conflict=card)
    near = Conflict.objects.filter(status__in=WAITING, pk__in=theirs.values("conflict_id"))
    for smaller in near.order_by("pk").select_for_update():
        if not set(smaller.members.values_list("lineage", flat=True)) <= held:
            continue
        ConflictPair.objects.filter(conflict=smaller).update(conflict=card)
        ConflictComment.objects.filter(conflict=smaller).update(conflict=card)
        Judgement.objects.filter(conflict=smaller).update(conflict=card)
        card.detected_by = list(dict.fromkeys([*card.detected_by, *smaller.detected_by]))
        card.further_rules = further_rules(card, smaller.rules)
        card.confidence = max(card.confidence, smaller.confidence)
        card.save(update_fields=["detected_by", "further_rules", "confidence"])
        count_unlisted(card, smaller.unlisted)
        lapse(smaller, LapseReason.ABSORBED, now=now, by=card.id)


def lapse(card: Conflict, reason: LapseReason, *, now: datetime, by: UUID | None = None) -> None:
    """Close a locked card without a verdict; `by` is the card that replaces it, if any."""
    card.status = ConflictStatus.RESOLVED
    card.is_lapsed = True
    card.lapse_reason = reason
    card.snoozed_until = None
    _save(card, "status", "is_lapsed", "lapse_reason", "snoozed_until", now=now)
    data = {"verdict": None, "status": "resolved", "lapsed": True, "reason": str(reason)}
    if by is not None:
        data["by"] = str(by)
    record("conflict.resolved", of=("conflict", card.id), actor=SYSTEM, now=now, data=data)
    if by is None:
        read_unlisted_again(card, now=now)


def _save(card: Conflict, *fields: str, now: datetime) -> None:
    card.version += 1
    card.updated_at = now
    card.save(update_fields=[*fields, "version", "updated_at"])
