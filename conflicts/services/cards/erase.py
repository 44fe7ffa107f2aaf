"""Delete from cards every text that quotes an erased memory; the decisions themselves stay."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from conflicts.models import Conflict, ConflictComment, ConflictPair, Decision, Judgement
from conflicts.models.card import WAITING, LapseReason
from conflicts.services.cards.lapse import lapse
from conflicts.services.cards.question import live_members, rebuild_question
from conflicts.services.cards.unlisted import drop_unlisted, without_memories
from memories.models import Memory

ERASED = "Erased."


def note_erased(
    sender: Any,
    *,
    memory_ids: Sequence[UUID],
    answering: Collection[UUID] = (),
    quoted_in: Callable[[Any], bool],
    now: datetime,
    **_: Any,
) -> None:
    """Remove memories about to be erased from their cards, and quotes of them from every card.

    The cards of memories that lost answers with them are written anew, too. Lineages that end with
    them are counted by no card any more.
    """
    named = {str(memory_id) for memory_id in memory_ids}
    members = Q(members__memory__in=[*memory_ids, *answering])
    theirs = members | Q(decisions__answer__in=memory_ids)
    own = set(Conflict.objects.filter(theirs).values_list("pk", flat=True))
    quoting = own | _find_quoting(quoted_in)
    gone = _ending(memory_ids)
    which = Q(pk__in=quoting) | Q(unlisted__overlap=sorted(gone))
    for card in Conflict.objects.filter(which).order_by("pk").select_for_update():
        drop_unlisted(card, gone)
        if card.pk not in quoting:
            continue
        card.question, card.reasoning, card.model_reasoning = ERASED, "", ""
        card.version += 1
        card.updated_at = now
        card.save(
            update_fields=["question", "reasoning", "model_reasoning", "version", "updated_at"]
        )
        _leave(card, memory_ids)
        if card.status in WAITING:
            if len(live_members(card, now)) < 2:
                lapse(card, LapseReason.GONE, now=now)
            else:
                rebuild_question(card, now=now)
    # Comments on the memory's own cards are erased whole: they may paraphrase it.
    ConflictComment.objects.filter(conflict__in=own).update(text=ERASED)
    for decision in Decision.objects.filter(conflict__in=own):
        decision.note = ERASED if decision.note else ""
        decision.effects = [
            effect | {"content_hash": ""} if effect["memory"] in named else effect
            for effect in decision.effects
        ]
        decision.save(update_fields=["note", "effects"])
    _erase_quotes(quoted_in)


def _ending(memory_ids: Sequence[UUID]) -> set[UUID]:
    """Return the lineages that have no memory but these."""
    own = Memory.objects.filter(pk__in=memory_ids).order_by()
    return without_memories(set(own.values_list("lineage", flat=True)), memory_ids)


def _find_quoting(quoted_in: Callable[[Any], bool]) -> set[UUID]:
    """Return the ids of all cards whose question or reasoning quotes the erased text."""
    texts = ("question", "reasoning", "model_reasoning")
    rows = Conflict.objects.order_by().values_list("pk", *texts)
    return {pk for pk, *written in rows.iterator() if quoted_in(written)}


def _erase_quotes(quoted_in: Callable[[Any], bool]) -> None:
    """Replace the comments, notes and reasons of other cards that quote the erased text."""
    for comment in ConflictComment.objects.iterator():
        if quoted_in(comment.text):
            ConflictComment.objects.filter(pk=comment.pk).update(text=ERASED)
    for pk, reason in Judgement.objects.exclude(reason="").values_list("pk", "reason").iterator():
        if quoted_in(reason):
            Judgement.objects.filter(pk=pk).update(reason=ERASED)
    for pk, note in Decision.objects.exclude(note="").values_list("pk", "note").iterator():
        if quoted_in(note):
            Decision.objects.filter(pk=pk).update(note=ERASED)


def _leave(card: Conflict, memory_ids: Sequence[UUID]) -> None:
    """Remove members from a card, and the pairs of lineages without a member left."""
    leaving = card.members.filter(memory__in=memory_ids)
    gone = set(leaving.values_list("lineage", flat=True))
    leaving.delete()
    left = set(card.members.filter(lineage__in=gone).values_list("lineage", flat=True))
    lineages = list(gone - left)
    of_them = Q(lineage_low__in=lineages) | Q(lineage_high__in=lineages)
    ConflictPair.objects.filter(of_them, conflict=card).delete()
