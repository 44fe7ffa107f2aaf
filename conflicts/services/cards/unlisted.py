"""Memories that disagree with those of a card and are only counted: a card lists so many."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from conflicts.core.parts import MAX_UNLISTED
from conflicts.models import Conflict
from conflicts.services.due import note_written_if_enabled
from engram.kernel.models import Workspace
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


def say_unlisted(card: Conflict, reasoning: str) -> str:
    """Return the reasoning of a card with how many more memories disagree."""
    count = len(card.unlisted)
    if not count:
        return reasoning
    more = "1 more memory disagrees" if count == 1 else f"{count:,} more memories disagree"
    at_least = "At least " if count >= MAX_UNLISTED else ""
    return (
        f"{reasoning} {at_least}{more} and {'is' if count == 1 else 'are'} not listed here.".strip()
    )
