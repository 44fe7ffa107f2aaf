"""Read the links that recall walks along: to what may be recalled by this query, and no further.

Every memory that is named passes the query's condition, so that nothing hidden is walked through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from engram.kernel.binary import binary_cursor, without_indentation
from engram.kernel.plain_sql import Condition
from engram.kernel.tenancy import current_workspace_id
from memories.core import associations as core
from memories.core.co_recall import HALF_LIFE_DAYS, LEAST_WALKED
from memories.core.entities import longest, named_in
from memories.core.spreading import Node, Weights

_NO_LINKS: Weights = MappingProxyType({})
LINKS_READ = 20  # of one memory or note, of each kind but entities
LINKS_SCANNED = 1_000  # of one node, to find those that lead to what may be recalled

# By the kind of node. Each part is a look-up in an index for each id: the planner is not asked for
# an order of joins.
_LINKS = {
    core.MEMORY: without_indentation("""
    SELECT 'memory', here.id::text, 'entity', entity.key, counted.memories::float8
    FROM unnest(%(memories)s::uuid[]) AS here (id)
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
    SELECT 'memory', here.id::text, 'note', link.note_id::text, 1
    FROM unnest(%(memories)s::uuid[]) AS here (id)
    CROSS JOIN LATERAL (
        SELECT note_id FROM memories_notelink
        WHERE workspace_id = %(workspace)s AND memory_id = here.id AND note_id IS NOT NULL
        ORDER BY id LIMIT %(links)s
    ) AS link
    UNION ALL
    SELECT 'memory', here.id::text, 'memory', other.id::text, other.weight
    FROM unnest(%(memories)s::uuid[]) AS here (id)
    CROSS JOIN LATERAL (
        SELECT linked.id, linked.weight FROM (
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
                    weight * exp(-ln(2) * extract(epoch FROM %(now)s - reinforced_at)
                        / %(half_life)s)
                FROM memories_corecall WHERE workspace_id = %(workspace)s AND second_id = here.id
            ) AS together WHERE together.weight >= %(least)s
            LIMIT %(scanned)s
        ) AS linked
        WHERE EXISTS (
            SELECT 1 FROM memories_memory WHERE id = linked.id AND {condition} OFFSET 0
        )
        LIMIT %(links)s
    ) AS other
    """),
    core.ENTITY: without_indentation("""
    SELECT 'entity', here.key, 'memory', entity.memory_id::text, entity.is_subject::int
    FROM unnest(%(entities)s::text[]) AS here (key)
    CROSS JOIN LATERAL (
        SELECT memory_id, is_subject FROM (
            SELECT memory_id, is_subject FROM memories_memoryentity
            WHERE workspace_id = %(workspace)s AND key = here.key
            ORDER BY memory_id LIMIT %(scanned)s
        ) AS named
        WHERE EXISTS (
            SELECT 1 FROM memories_memory WHERE id = named.memory_id AND {condition} OFFSET 0
        )
        LIMIT %(most)s
    ) AS entity
    """),
    core.NOTE: without_indentation("""
    SELECT 'note', here.id::text, 'memory', link.memory_id::text, 1
    FROM unnest(%(notes)s::uuid[]) AS here (id)
    CROSS JOIN LATERAL (
        SELECT memory_id FROM (
            SELECT memory_id FROM memories_notelink
            WHERE workspace_id = %(workspace)s AND note_id = here.id AND memory_id IS NOT NULL
            ORDER BY id LIMIT %(scanned)s
        ) AS linking
        WHERE EXISTS (
            SELECT 1 FROM memories_memory WHERE id = linking.memory_id AND {condition} OFFSET 0
        )
        LIMIT %(most)s
    ) AS link
    UNION ALL
    SELECT 'note', here.id::text, 'note', link.note_id::text, 0
    FROM unnest(%(notes)s::uuid[]) AS here (id)
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
    """),
}
_ABOUT = without_indentation("""
    SELECT named.key, named.memories, entity.memory_id::text
    FROM (
        SELECT key, memories FROM memories_entitycount
        WHERE workspace_id = %(workspace)s AND key = ANY(%(keys)s::text[])
            AND memories BETWEEN 1 AND %(named)s
        OFFSET 0
    ) AS named
    CROSS JOIN LATERAL (
        SELECT memory_id FROM (
            SELECT memory_id FROM memories_memoryentity
            WHERE workspace_id = %(workspace)s AND key = named.key AND is_subject
            ORDER BY memory_id LIMIT %(scanned)s
        ) AS about
        WHERE EXISTS (
            SELECT 1 FROM memories_memory WHERE id = about.memory_id AND {condition} OFFSET 0
        )
        LIMIT %(named)s
    ) AS entity
""")


class LinkReader:
    """Reads the links of nodes, those of one step by one statement."""

    def __init__(self, condition: Condition, *, memories: int, now: datetime) -> None:
        self._condition = condition
        self._memories = memories
        self._about: dict[str, dict[Node, bool]] = {}  # memories about the query's entities
        self._links: dict[Node, Weights] = {}
        self._parameters: dict[str, Any] = condition.parameters | {
            "workspace": current_workspace_id(),
            "most": core.most_memories(memories),
            "named": core.MOST_MEMORIES,
            "links": LINKS_READ,
            "scanned": LINKS_SCANNED,
            "now": now,
            "half_life": HALF_LIFE_DAYS * 86_400.0,
            "least": LEAST_WALKED,
        }

    def asked(self, query: str) -> dict[Node, float]:
        """Return the weights of entities that a query names and recallable memories are about."""
        named = named_in(query)
        counts: dict[str, int] = {}
        about: dict[str, dict[Node, bool]] = defaultdict(dict)
        for key, memories, memory_id in self._rows(_ABOUT, keys=list(named)):
            counts[key] = memories
            about[key][Node(core.MEMORY, memory_id)] = True
        self._about = {key: about[key] for key in longest(named, counts)}
        return {
            Node(core.ASKED, key): core.rarity(counts[key], self._memories) for key in self._about
        }

    def links_of(self, nodes: Collection[Node]) -> Mapping[Node, Weights]:
        """Return the weights of the links of nodes, and of others that were asked for before.

        A walk comes back to the same nodes: each is read once.
        """
        unread = [node for node in nodes if node not in self._links]
        self._links |= dict.fromkeys(unread, _NO_LINKS) | self._read(unread)
        return self._links

    def _read(self, nodes: Collection[Node]) -> dict[Node, Weights]:
        keys: dict[str, list[str]] = defaultdict(list)
        for node in nodes:
            keys[node.kind].append(node.key)
        found: dict[Node, Weights] = {
            Node(core.ASKED, key): {Node(core.NAMED, key): 1.0} for key in keys[core.ASKED]
        }
        for key in keys[core.NAMED]:
            found[Node(core.NAMED, key)] = core.out_of_hub(self._about[key])
        return found | self._stored({kind: keys[kind] for kind in _LINKS if kind in keys})

    def _stored(self, keys: Mapping[str, Sequence[str]]) -> dict[Node, Weights]:
        """Read the links of nodes of each kind by one statement."""
        if not keys:
            return {}
        own: dict[Node, dict[Node, float]] = defaultdict(dict)
        rows = self._rows(
            " UNION ALL ".join(_LINKS[kind] for kind in keys),
            memories=_ids(keys.get(core.MEMORY, [])),
            entities=keys.get(core.ENTITY, []),
            notes=_ids(keys.get(core.NOTE, [])),
        )
        for from_kind, from_key, kind, key, value in rows:
            is_rare = from_kind == core.MEMORY and kind == core.ENTITY
            weight = core.rarity(value, self._memories) if is_rare else value
            own[Node(from_kind, from_key)][Node(kind, key)] = weight
        return {
            node: core.out_of_memory(links)
            if node.kind == core.MEMORY
            else core.out_of_hub({other: bool(is_about) for other, is_about in links.items()})
            for node, links in own.items()
        }

    def _rows(self, sql: str, **parameters: Any) -> list[tuple[Any, ...]]:
        with binary_cursor(prepares=True) as cursor:
            statement = sql.format(condition=self._condition.sql)
            cursor.execute(statement, self._parameters | parameters)
            return list(cursor.fetchall())


def _ids(ids: Sequence[str]) -> str:
    """Return UUIDs as one array in PostgreSQL's text format."""
    return f"{{{','.join(ids)}}}"
