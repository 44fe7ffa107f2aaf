"""Read the links that recall walks along: to what may be recalled by this query, and no further.

Every memory that is named passes the query's condition, so that nothing hidden is walked through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Any

from engram.kernel.binary import binary_cursor
from engram.kernel.plain_sql import Condition
from engram.kernel.tenancy import current_workspace_id
from memories.core import associations as core
from memories.core.co_recall import HALF_LIFE_DAYS, LEAST_WALKED
from memories.core.entities import named_in
from memories.core.spreading import Node, Weights

LINKS_READ = 20  # of one memory or note, of each kind but entities

# Each part is a look-up in an index for each id: the planner is not asked for an order of joins.
_OF_MEMORIES = """
    SELECT here.id, 'entity', entity.key, counted.memories::float8
    FROM unnest(%(ids)s::uuid[]) AS here (id)
    CROSS JOIN LATERAL (
        SELECT key FROM memories_memoryentity
        WHERE workspace_id = %(workspace)s AND memory_id = here.id OFFSET 0
    ) AS entity
    CROSS JOIN LATERAL (
        SELECT memories FROM memories_entitycount
        WHERE workspace_id = %(workspace)s AND key = entity.key
            AND memories BETWEEN 2 AND %(most)s
        OFFSET 0
    ) AS counted
    UNION ALL
    SELECT here.id, 'note', link.note_id::text, 1
    FROM unnest(%(ids)s::uuid[]) AS here (id)
    CROSS JOIN LATERAL (
        SELECT note_id FROM memories_notelink
        WHERE workspace_id = %(workspace)s AND memory_id = here.id AND note_id IS NOT NULL
        ORDER BY id LIMIT %(links)s
    ) AS link
    UNION ALL
    SELECT here.id, 'memory', other.id::text, other.weight
    FROM unnest(%(ids)s::uuid[]) AS here (id)
    CROSS JOIN LATERAL (
        SELECT source_id AS id, 1::float8 AS weight FROM memories_derivation
        WHERE workspace_id = %(workspace)s AND derived_id = here.id
        UNION ALL
        SELECT derived_id, 1 FROM memories_derivation
        WHERE workspace_id = %(workspace)s AND source_id = here.id
        UNION ALL
        SELECT together.id, least(1, together.weight) FROM (
            SELECT second_id AS id,
                weight * exp(-ln(2) * extract(epoch FROM %(now)s - reinforced_at)
                    / %(half_life)s) AS weight
            FROM memories_corecall WHERE workspace_id = %(workspace)s AND first_id = here.id
            UNION ALL
            SELECT first_id,
                weight * exp(-ln(2) * extract(epoch FROM %(now)s - reinforced_at) / %(half_life)s)
            FROM memories_corecall WHERE workspace_id = %(workspace)s AND second_id = here.id
        ) AS together WHERE together.weight >= %(least)s
        LIMIT %(links)s
    ) AS other
    WHERE EXISTS (SELECT 1 FROM memories_memory WHERE id = other.id AND {condition} OFFSET 0)
"""
_OF_ENTITIES = """
    SELECT here.key, entity.memory_id::text, entity.is_subject
    FROM unnest(%(keys)s::text[]) AS here (key)
    CROSS JOIN LATERAL (
        SELECT memory_id, is_subject FROM memories_memoryentity
        WHERE workspace_id = %(workspace)s AND key = here.key
        ORDER BY memory_id LIMIT %(most)s
    ) AS entity
    WHERE EXISTS (
        SELECT 1 FROM memories_memory WHERE id = entity.memory_id AND {condition} OFFSET 0
    )
"""
_OF_NOTES = """
    SELECT here.id, 'memory', link.memory_id::text
    FROM unnest(%(ids)s::uuid[]) AS here (id)
    CROSS JOIN LATERAL (
        SELECT memory_id FROM memories_notelink
        WHERE workspace_id = %(workspace)s AND note_id = here.id AND memory_id IS NOT NULL
        ORDER BY id LIMIT %(most)s
    ) AS link
    WHERE EXISTS (SELECT 1 FROM memories_memory WHERE id = link.memory_id AND {condition} OFFSET 0)
    UNION ALL
    SELECT here.id, 'note', link.note_id::text
    FROM unnest(%(ids)s::uuid[]) AS here (id)
    CROSS JOIN LATERAL (
        (
            SELECT note_id FROM memories_notelink
            WHERE workspace_id = %(workspace)s AND source_id = here.id AND note_id IS NOT NULL
            ORDER BY id LIMIT %(links)s
        )
        UNION ALL
        (
            SELECT source_id FROM memories_notelink
            WHERE workspace_id = %(workspace)s AND note_id = here.id AND source_id IS NOT NULL
            ORDER BY id LIMIT %(links)s
        )
    ) AS link
    WHERE link.note_id <> here.id
"""
_ABOUT = """
    SELECT named.key, named.memories, entity.memory_id::text
    FROM (
        SELECT key, memories FROM memories_entitycount
        WHERE workspace_id = %(workspace)s AND key = ANY(%(keys)s::text[])
            AND memories BETWEEN 1 AND %(named)s
        OFFSET 0
    ) AS named
    CROSS JOIN LATERAL (
        SELECT memory_id FROM memories_memoryentity
        WHERE workspace_id = %(workspace)s AND key = named.key AND is_subject
        ORDER BY memory_id LIMIT %(named)s
    ) AS entity
    WHERE EXISTS (
        SELECT 1 FROM memories_memory WHERE id = entity.memory_id AND {condition} OFFSET 0
    )
"""


class LinkReader:
    """Reads the links of nodes, one statement for each kind of node in a step."""

    def __init__(self, condition: Condition, *, memories: int, now: datetime) -> None:
        self._condition = condition
        self._memories = memories
        self._about: dict[str, dict[Node, bool]] = {}  # memories about the query's entities
        self._parameters: dict[str, Any] = condition.parameters | {
            "workspace": current_workspace_id(),
            "most": core.most_memories(memories),
            "named": core.MOST_MEMORIES,
            "links": LINKS_READ,
            "now": now,
            "half_life": HALF_LIFE_DAYS * 86_400.0,
            "least": LEAST_WALKED,
        }

    def asked(self, query: str) -> dict[Node, float]:
        """Return the weights of entities that a query names and recallable memories are about."""
        counts: dict[str, int] = {}
        about: dict[str, dict[Node, bool]] = defaultdict(dict)
        for key, memories, memory_id in self._rows(_ABOUT, keys=named_in(query)):
            counts[key] = memories
            about[key][Node(core.MEMORY, memory_id)] = True
        self._about = {key: about[key] for key in named_in(query, counts)}
        return {
            Node(core.ASKED, key): core.rarity(counts[key], self._memories) for key in self._about
        }

    def links_of(self, nodes: Collection[Node]) -> dict[Node, Weights]:
        """Return the weights of the links of nodes."""
        keys: dict[str, list[str]] = defaultdict(list)
        for node in nodes:
            keys[node.kind].append(node.key)
        found: dict[Node, Weights] = {
            Node(core.ASKED, key): {Node(core.NAMED, key): 1.0} for key in keys[core.ASKED]
        }
        for key in keys[core.NAMED]:
            found[Node(core.NAMED, key)] = core.out_of_hub(self._about[key])
        found |= self._of_memories(keys[core.MEMORY])
        for key, members in self._of_entities(keys[core.ENTITY]).items():
            found[Node(core.ENTITY, key)] = core.out_of_hub(members)
        for key, members in self._of_notes(keys[core.NOTE]).items():
            found[Node(core.NOTE, key)] = core.out_of_hub(members)
        return found

    def _of_memories(self, ids: list[str]) -> dict[Node, Weights]:
        links: dict[Node, dict[Node, float]] = defaultdict(dict)
        for memory_id, kind, key, value in self._rows(_OF_MEMORIES, ids=ids) if ids else ():
            weight = core.rarity(value, self._memories) if kind == core.ENTITY else value
            links[Node(core.MEMORY, str(memory_id))][Node(kind, key)] = weight
        return {node: core.out_of_memory(own) for node, own in links.items()}

    def _of_entities(self, keys: list[str]) -> dict[str, dict[Node, bool]]:
        members: dict[str, dict[Node, bool]] = defaultdict(dict)
        for key, memory_id, is_subject in self._rows(_OF_ENTITIES, keys=keys) if keys else ():
            members[key][Node(core.MEMORY, memory_id)] = is_subject
        return members

    def _of_notes(self, ids: list[str]) -> dict[str, dict[Node, bool]]:
        """Return the memories that link notes, and notes that these link or are linked by."""
        members: dict[str, dict[Node, bool]] = defaultdict(dict)
        for note_id, kind, key in self._rows(_OF_NOTES, ids=ids) if ids else ():
            members[str(note_id)][Node(kind, key)] = kind == core.MEMORY
        return dict(members)

    def _rows(self, sql: str, **parameters: Any) -> list[tuple[Any, ...]]:
        with binary_cursor(prepares=True) as cursor:
            cursor.execute(sql.format(condition=self._condition.sql), self._parameters | parameters)
            return list(cursor.fetchall())
