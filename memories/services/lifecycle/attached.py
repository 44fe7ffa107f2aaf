"""Read what belongs to memories beside their rows: tags, sources, what they replaced, history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import QuerySet

from engram.kernel.binary import binary_cursor, pack_ids
from engram.kernel.models import Event
from engram.kernel.tenancy import current_workspace_id
from memories.models import Observation, Revision

_LINKS = """
    SELECT memory_id, 'tag' AS what, tag, NULL::timestamptz AS at, NULL::uuid AS other
    FROM memories_memorytag
    WHERE workspace_id = %(workspace)s AND memory_id = ANY(%(ids)s::uuid[])
    UNION ALL
    SELECT derived_id, 'source', '', NULL, source_id
    FROM memories_derivation
    WHERE workspace_id = %(workspace)s AND derived_id = ANY(%(ids)s::uuid[])
    UNION ALL
    SELECT superseded_by_id, 'replaced', '', observed_at, id
    FROM memories_memory
    WHERE workspace_id = %(workspace)s AND superseded_by_id = ANY(%(ids)s::uuid[])
    ORDER BY tag, at, other
"""


@dataclass(slots=True)
class Links:
    """The tags, sources and superseded memory of one memory."""

    tags: list[str] = field(default_factory=list)  # sorted
    sources: list[UUID] = field(default_factory=list)
    replaced: UUID | None = None  # the newest memory that it superseded


def links_of(ids: Collection[UUID]) -> dict[UUID, Links]:
    """Return the links of each memory; empty links for a memory that has none."""
    found: dict[UUID, Links] = defaultdict(Links)
    if not ids:
        return found
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(_LINKS, {"workspace": current_workspace_id(), "ids": pack_ids(ids)})
        for memory_id, what, tag, _, other in cursor.fetchall():
            links = found[memory_id]
            if what == "tag":
                links.tags.append(tag)
            elif what == "source":
                links.sources.append(other)
            else:
                links.replaced = other
    return found


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
