"""Find what a key replaced by its word alone: by memories that it did not write."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from engram.kernel.models import Event
from memories.models import Memory

SUPERSEDED = "memory.superseded"


def replaced_by_word(key_id: UUID, since: datetime, *, besides: Collection[UUID]) -> set[UUID]:
    """Return the memories that others' memories supersede because the key said so since.

    By the relation `replaces`, or by a commit that repeated what was known. Not what people decided
    on cards, suggestions and reviews, nor what one of the memories `besides` supersedes.
    """
    events = Event.objects.filter(
        type=SUPERSEDED, at__gte=since, actor_kind="key", actor_id=str(key_id)
    )
    # An event of a verdict or a merge also names its cause.
    said = {
        UUID(event.object_id): (UUID(event.data["by"]), event.at)
        for event in events.order_by("seq")
        if event.data.keys() == {"by"}
    }
    replaced = Memory.objects.filter(pk__in=said, forgotten_at=None).exclude(
        superseded_by__in=besides
    )
    return {
        pk
        for pk, *present in replaced.values_list("pk", "superseded_by_id", "superseded_at")
        if tuple(present) == said[pk]  # else something else has replaced it since
    }


def replacements_taken_back(replaced: Collection[UUID]) -> dict[UUID, datetime]:
    """Return when rollbacks last took back what keys had said about these memories."""
    events = Event.objects.filter(
        type="memory.restored", object_id__in=[str(pk) for pk in replaced], data__by_word=True
    )
    return {UUID(pk): at for pk, at in events.order_by("seq").values_list("object_id", "at")}
