"""Read the tags, sources and superseded memories of memories in one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from uuid import UUID

from django.db import connection

from engram.kernel.tenancy import current_workspace_id

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
    with connection.cursor() as cursor:
        cursor.execute(_LINKS, {"workspace": current_workspace_id(), "ids": list(ids)})
        for memory_id, what, tag, _, other in cursor.fetchall():
            links = found[memory_id]
            if what == "tag":
                links.tags.append(tag)
            elif what == "source":
                links.sources.append(other)
            else:
                links.replaced = other
    return found
