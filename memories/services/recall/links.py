"""Read the links that recall walks along: to what may be recalled by this query, and no further.

Every memory that is named passes the query's condition, so that nothing hidden is walked through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from engram.kernel.binary import binary_cursor, pack_texts, without_indentation
from engram.kernel.plain_sql import Condition
from engram.kernel.tenancy import current_workspace_id
from memories.core import associations as core
from memories.core.co_recall import HALF_LIFE_DAYS, LEAST_WALKED
from memories.core.entities import longest, named_in
from memories.core.spreading import Node, Weights

_Row = tuple[Any, ...]  # kind and key of a node, kind and key of one that it links, a number
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
                AND is_live
            ORDER BY id DESC LIMIT %(scanned)s
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
    core.ASKED: without_indentation("""
    SELECT 'asked', named.key, 'memory', entity.memory_id::text, named.memories::float8
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
    """),
}


class LinkReader:
    """Reads the links of nodes, those of one step by one statement."""

    def __init__(self, condition: Condition, *, memories: int, now: datetime) -> None:
        self._condition = condition
        self._memories = memories
        self._about: dict[str, dict[Node, bool]] = {}  # memories about the query's entities
        self._read: dict[Node, Weights] = {}
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

    def start(self, query: str, seeds: Sequence[Node]) -> dict[Node, float]:
        """Return the weights of entities that a query names and recallable memories are about.

        The links of `seeds` are read by the same statement, and returned when the walk asks.
        """
        named = named_in(query)
        rows = self._rows(
            {core.ASKED: list(named)} | ({core.MEMORY: [n.key for n in seeds]} if seeds else {})
        )
        counts: dict[str, int] = {}
        about: dict[str, dict[Node, bool]] = defaultdict(dict)
        others = []
        for row in rows:
            from_kind, key, kind, other, memories = row
            if from_kind != core.ASKED:
                others.append(row)
                continue
            counts[key] = memories
            about[key][Node(kind, other)] = True
        self._read = dict.fromkeys(seeds, _NO_LINKS) | self._weigh(others)
        self._about = {key: about[key] for key in longest(named, counts)}
        return {
            Node(core.ASKED, key): core.rarity(counts[key], self._memories) for key in self._about
        }

    def links_of(self, nodes: Collection[Node]) -> Mapping[Node, Weights]:
        """Return the weights of the links of nodes, and of memories that the walk comes to next.

        Those are about an entity that the query names: what they link is read with the entities
        of the seeds, not by a statement of its own.
        """
        found = {node: self._read[node] for node in nodes if node in self._read}
        stored: dict[str, list[str]] = defaultdict(list)
        ahead: set[Node] = set()
        for node in nodes:
            kind, key = node
            if kind == core.ASKED:
                found[node] = {Node(core.NAMED, key): 1.0}
            elif kind == core.NAMED:
                found[node] = core.out_of_hub(self._about[key])
                ahead.update(self._about[key])
            elif node not in found:
                stored[kind].append(key)
        if stored and ahead:
            coming = sorted(ahead - self._read.keys())[: core.FRONTIER]
            stored[core.MEMORY] += [node.key for node in coming]
            found |= dict.fromkeys(coming, _NO_LINKS)
        return found | self._weigh(self._rows(stored))

    def _weigh(self, rows: Sequence[_Row]) -> dict[Node, Weights]:
        own: dict[tuple[str, str], dict[Node, float]] = defaultdict(dict)
        for from_kind, from_key, kind, key, value in rows:
            own[from_kind, from_key][Node(kind, key)] = value
        return {
            Node(kind, key): core.out_of_memory(self._by_rarity(links))
            if kind == core.MEMORY
            else core.out_of_hub(links)
            for (kind, key), links in own.items()
        }

    def _by_rarity(self, links: Weights) -> dict[Node, float]:
        """Return the weights of a memory's links; those of entities come as numbers of memories."""
        return {
            node: core.rarity(value, self._memories) if node.kind == core.ENTITY else value
            for node, value in links.items()
        }

    def _rows(self, keys: Mapping[str, Sequence[str]]) -> list[_Row]:
        """Read the links of nodes of each kind that is named, by one statement."""
        if not keys:
            return []
        kinds = [kind for kind in _LINKS if kind in keys]
        statement = " UNION ALL ".join(_LINKS[kind] for kind in kinds)
        with binary_cursor(prepares=True) as cursor:
            cursor.execute(
                statement.format(condition=self._condition.sql),
                self._parameters
                | {
                    "memories": _ids(keys.get(core.MEMORY, ())),
                    "entities": pack_texts(keys.get(core.ENTITY, ())),
                    "notes": _ids(keys.get(core.NOTE, ())),
                    "keys": pack_texts(keys.get(core.ASKED, ())),
                },
            )
            return list(cursor.fetchall())


def _ids(ids: Sequence[str]) -> str:
    """Return UUIDs as one array in PostgreSQL's text format."""
    return f"{{{','.join(ids)}}}"
