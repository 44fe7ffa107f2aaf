"""Read the history of one memory: its events with the wordings they refer to."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import QuerySet

from engram.kernel.models import Event
from memories.models import Observation, Revision


def events_of(memory_id: UUID) -> QuerySet[Event]:
    """Return the events of a memory of this workspace."""
    return Event.objects.filter(object_id=str(memory_id))


def add_wordings(memory_id: UUID, events: Sequence[Event]) -> Sequence[Event]:
    """Set `content` of each event: the observed text, the wording before a change, or None."""
    observations = Observation.objects.filter(
        memory=memory_id, pk__in=[e.data["observation"] for e in events if "observation" in e.data]
    )
    sent = {str(row.pk): row.content for row in observations}
    numbers = [e.data["revision"] - 1 for e in events if "revision" in e.data]
    replaced = dict(
        Revision.objects.filter(memory=memory_id, number__in=numbers).values_list(
            "number", "content"
        )
    )
    for event in events:
        wording = sent.get(event.data.get("observation", "")) or replaced.get(
            event.data.get("revision", 0) - 1
        )
        event.content = wording  # type: ignore[attr-defined]
    return events
