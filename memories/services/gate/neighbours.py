"""Find the nearest live memories of a statement's place and of other scopes, in one query."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID

import numpy as np

from engram.kernel.binary import PackedVector, prepared_cursor
from engram.kernel.plain_sql import (
    ANY_TIME,
    Condition,
    columns_of,
    condition_of,
    from_row,
)
from engram.kernel.planning import by_index
from engram.kernel.tenancy import current_workspace_id
from memories.models import Memory
from memories.models.memory import MemoryQuerySet
from memories.services.index import nearest

# Limits of one scan: memories of the place, and of other scopes of its project.
ROOM = 8
ELSEWHERE_COSINE = 0.35  # below this cosine a memory of another scope is ignored

# A scan, as in `nearest`. At least one row is returned, with the number of vectors read. Each
# memory is looked up by its id before other filters apply.
_NEAREST = """
    WITH near AS MATERIALIZED (
        SELECT memory_id, embedding <=> %(vector)s::vector AS distance FROM memories_memoryvector
        WHERE workspace_id = %(workspace)s AND model = %(model)s AND is_live
        ORDER BY distance, memory_id LIMIT %(wanted)s
    ), best AS (SELECT memory_id, 1 - min(distance) AS cosine FROM near GROUP BY 1)
    SELECT (SELECT count(*) FROM near), found.* FROM (SELECT) AS one
    LEFT JOIN LATERAL (
        SELECT * FROM (
            SELECT row_number() OVER (
                PARTITION BY memories_memory.scope = %(scope)s
                ORDER BY nullif(cosine, 'NaN') DESC NULLS LAST, id
            ) AS place, memories_memory.scope = %(scope)s AS is_here, cosine, {columns}
            FROM best CROSS JOIN LATERAL (
                SELECT * FROM memories_memory WHERE id = best.memory_id LIMIT 1
            ) AS memories_memory
            WHERE {condition}
        ) AS ranked
        WHERE place <= %(room)s AND (is_here OR (cosine >= %(far)s AND cosine <> 'NaN'))
    ) AS found ON true
    ORDER BY found.place
"""

NearMemory = tuple[Memory, float]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Memories with their cosine, nearest first: of exactly one place, and of other scopes.

    `elsewhere` is of the same project; it is empty where the workspace is too large for a scan.
    """

    here: list[NearMemory]
    elsewhere: list[NearMemory]


def find_neighbours(
    vector: np.ndarray,
    model: str,
    limit: int,
    *,
    scope: str,
    project: str,
    now: datetime,
    size: int | None = None,
) -> Neighbours:
    """Return at least the `limit` nearest live memories of a scope and project, if there are any.

    `size` is `corpus_size()`, if the caller has it.
    """
    size = nearest.corpus_size() if size is None else size
    elsewhere: list[NearMemory] = []
    if size > nearest.EXACT_MAX:
        cosines = nearest.nearest(_place(now, scope, project), vector, model, limit, size=size)
    else:
        here, elsewhere, is_all = _scan(vector, model, limit, scope=scope, project=project, now=now)
        if is_all or len(here) >= limit:
            return Neighbours(here, elsewhere)
        cosines = nearest.nearest_among(_place(now, scope, project), vector, model, limit)
    memories = Memory.objects.in_bulk(list(cosines))
    here = [(memories[memory_id], cosine) for memory_id, cosine in cosines.items()]
    return Neighbours(here, elsewhere)


def _scan(
    vector: np.ndarray, model: str, limit: int, *, scope: str, project: str, now: datetime
) -> tuple[list[NearMemory], list[NearMemory], bool]:
    """Scan all vectors for the nearest; return them and whether all vectors were read."""
    wanted = limit + max(limit // 2, nearest.SPARE)
    condition = _condition(current_workspace_id(), project).replace(ANY_TIME, now)
    with by_index(), prepared_cursor() as cursor:
        cursor.execute(
            _NEAREST.format(
                columns=columns_of(Memory, Memory._meta.db_table), condition=condition.sql
            ),
            condition.parameters
            | {
                "vector": PackedVector(vector),
                "workspace": current_workspace_id(),
                "model": model,
                "wanted": wanted,
                "scope": scope,
                "room": max(limit, ROOM),
                "far": ELSEWHERE_COSINE,
            },
        )
        rows = cursor.fetchall()
    here: list[NearMemory] = []
    elsewhere: list[NearMemory] = []
    for _, place, is_here, cosine, *values in rows:
        if place is not None:
            (here if is_here else elsewhere).append((from_row(Memory, values), cosine))
    return here, elsewhere, rows[0][0] < wanted


@lru_cache(maxsize=512)
def _condition(workspace_id: UUID, project: str) -> Condition:
    """Return the condition of `_project` at `ANY_TIME` in the current workspace, `workspace_id`."""
    return condition_of(_project(ANY_TIME, project))


def _project(now: datetime, project: str) -> MemoryQuerySet:
    return Memory.objects.recallable(now).filter(project=project).order_by()


def _place(now: datetime, scope: str, project: str) -> MemoryQuerySet:
    return _project(now, project).filter(scope=scope)
