"""Memories that disagree with those of a card and are only counted: a card lists so many."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from conflicts.core.parts import MAX_UNLISTED
from conflicts.models import Conflict
from conflicts.services.due import note_written_if_enabled
from engram.kernel.models import Workspace
from engram.kernel.planning import Among
from engram.kernel.tenancy import current_workspace_id
from memories.models import Memory


def count_unlisted(card: Conflict, lineages: Iterable[Any]) -> None:
    """Add lineages to those that a locked card counts; a member of the card is not counted.

    The card's version stays: what is asked has not changed.
    """
    found = {*card.unlisted, *(UUID(str(lineage)) for lineage in lineages)}
    if found:
        found -= set(card.members.values_list("lineage", flat=True))
    if found != set(card.unlisted):
        card.unlisted = sorted(found)[:MAX_UNLISTED]
        card.save(update_fields=["unlisted"])


def read_unlisted_again(card: Conflict, *, now: datetime) -> None:
    """Queue the memories that a closed card only counted: they are asked about on another card."""
    if not card.unlisted:
        return
    live = Memory.objects.recallable(now).filter(lineage__in=card.unlisted).order_by("pk")
    if ids := list(live.values_list("pk", flat=True)):
        workspace = Workspace.objects.get(pk=current_workspace_id())
        note_written_if_enabled(Memory, workspace=workspace, memory_ids=ids, now=now)


def count_recallable(cards: Sequence[Conflict], now: datetime | None = None) -> dict[UUID, int]:
    """Return for each card how many of the lineages that it counts are recalled at `now`.

    Hidden ones count again once they are restored. One query for all cards.
    """
    wanted = {lineage for card in cards for lineage in card.unlisted}
    if not wanted:
        return {card.pk: 0 for card in cards}
    live = Memory.objects.recallable(now).filter(Among(F("lineage"), wanted)).order_by()
    found = set(live.values_list("lineage", flat=True))
    return {card.pk: len(found.intersection(card.unlisted)) for card in cards}


def without_memories(lineages: Collection[UUID], besides: Collection[UUID]) -> set[UUID]:
    """Return the lineages that have no memory, hidden or not, besides these."""
    others = Memory.objects.filter(lineage__in=lineages).exclude(pk__in=besides).order_by()
    return set(lineages).difference(others.values_list("lineage", flat=True))


def drop_unlisted(card: Conflict, lineages: Collection[UUID]) -> None:
    """Remove lineages from those that a locked card counts; its version stays."""
    left = [lineage for lineage in card.unlisted if lineage not in lineages]
    if len(left) < len(card.unlisted):
        card.unlisted = left
        card.save(update_fields=["unlisted"])


def say_unlisted(card: Conflict, reasoning: str, count: int) -> str:
    """Return the reasoning of a card with the count of `count_recallable`."""
    if not count:
        return reasoning
    more = "1 more memory disagrees" if count == 1 else f"{count:,} more memories disagree"
    at_least = "At least " if len(card.unlisted) >= MAX_UNLISTED else ""
    return (
        f"{reasoning} {at_least}{more} and {'is' if count == 1 else 'are'} not listed here.".strip()
    )
