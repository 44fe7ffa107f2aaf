"""The gate's neighbours: the nearest live memories of one place, read in one round trip."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np
from django.db import connection

from engram.kernel.planning import by_index
from engram.kernel.rows import from_row
from engram.kernel.tenancy import current_workspace_id
from memories.models import Memory
from memories.models.memory import MemoryQuerySet
from memories.services import nearest as search

# A scan, as `nearest` does. One row at least tells how much was read. {place} is what `recallable`
# selects, compiled once, from what was found: each memory is looked up by its id before anything
# else is asked of it.
_NEAREST = """
    WITH near AS MATERIALIZED (
        SELECT memory_id, embedding <=> %s AS distance FROM memories_memoryvector
        WHERE workspace_id = %s AND model = %s AND is_live
        ORDER BY distance, memory_id LIMIT %s
    ), best AS (SELECT memory_id, 1 - min(distance) AS cosine FROM near GROUP BY 1)
    SELECT (SELECT count(*) FROM near), found.* FROM (SELECT) AS one
    LEFT JOIN LATERAL (
        {place} ORDER BY nullif(cosine, 'NaN') DESC NULLS LAST, id LIMIT %s
    ) AS found ON true
    ORDER BY nullif(found.cosine, 'NaN') DESC NULLS LAST, found.id
"""
_TABLE = connection.ops.quote_name(Memory._meta.db_table)
_FOUND = f"""best CROSS JOIN LATERAL (
    SELECT * FROM {_TABLE} WHERE id = best.memory_id LIMIT 1
) AS {_TABLE}"""  # noqa: S608  names only


def nearest_in_place(
    vector: np.ndarray,
    model: str,
    limit: int,
    *,
    scope: str,
    project: str,
    now: datetime,
    size: int | None = None,
) -> list[tuple[Memory, float]]:
    """Return the nearest live memories of exactly this scope and project, with their cosine.

    `size` is `corpus_size()`, for callers who know it.
    """
    size = search.corpus_size() if size is None else size
    if size > search.EXACT_MAX:
        cosines = search.nearest(_place(now, scope, project), vector, model, limit, size=size)
    else:
        found, is_all = _scanned(vector, model, limit, scope=scope, project=project, now=now)
        if is_all or len(found) == limit:
            return found
        cosines = search.nearest_among(_place(now, scope, project), vector, model, limit)
    memories = Memory.objects.in_bulk(list(cosines))
    return [(memories[memory_id], cosine) for memory_id, cosine in cosines.items()]


def _scanned(
    vector: np.ndarray, model: str, limit: int, *, scope: str, project: str, now: datetime
) -> tuple[list[tuple[Memory, float]], bool]:
    """Scan all vectors for the nearest; tell whether no other was there."""
    wanted = limit + max(limit // 2, search.SPARE)
    statement, order = _statement()
    mine = current_workspace_id()
    asked: dict[Any, Any] = {_WORKSPACE: mine, _NOW: now, _SCOPE: scope, _PROJECT: project}
    with by_index(), connection.cursor() as cursor:
        cursor.execute(
            statement,
            [str(vector.tolist()), mine, model, wanted, *(asked[name] for name in order), limit],
        )
        rows = cursor.fetchall()
    found = [(from_row(Memory, row[2:]), row[1]) for row in rows if row[1] is not None]
    return found, rows[0][0] < wanted


# What stands in the compiled condition for what it is asked with.
_NOW, _WORKSPACE = datetime(1, 1, 1, tzinfo=UTC), "<workspace>"
_SCOPE, _PROJECT = "<scope>", "<project>"


def _place(now: datetime, scope: str, project: str) -> MemoryQuerySet:
    return Memory.objects.recallable(now).filter(scope=scope, project=project).order_by()


@lru_cache(maxsize=1)
def _statement() -> tuple[str, tuple[Any, ...]]:
    """Return the statement, and what its condition is asked with, in order."""
    place, asked = _place(_NOW, _SCOPE, _PROJECT).query.sql_with_params()
    columns, _, condition = place.removeprefix("SELECT ").partition(f" FROM {_TABLE} ")
    mine = current_workspace_id()
    order = tuple(_WORKSPACE if value == mine else value for value in asked)
    of_found = f"SELECT cosine, {columns} FROM {_FOUND} {condition}"  # noqa: S608  names only
    return _NEAREST.replace("{place}", of_found), order
