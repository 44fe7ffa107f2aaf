"""Find the nearest memories by cosine: by an exact scan in small workspaces, by HNSW in large ones.

An exact scan reads every live vector of the workspace; HNSW reads a few hundred vectors of all
workspaces and drops those of others. Measurements are in `benchmarks/results`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import Min, QuerySet
from pgvector.django import CosineDistance
from psycopg import sql

from engram.kernel.binary import PackedVector, binary_cursor
from engram.kernel.plain_sql import Rows, condition_of, queryset_of
from engram.kernel.planning import by_index, by_index_in_order, by_index_sorted
from engram.kernel.tenancy import current_workspace_id
from memories.models import CorpusSize, Memory
from memories.services.index.search_index import VECTOR_MAX_WIDTH

# Memories of a workspace up to which its vectors are scanned. A scan costs the database 1 ms for a
# thousand; the graph 5 ms where most of the table is the workspace's own, 23 ms where a tenth is,
# 206 ms where half a percent is. Between these they meet near 15,000 of 100,000, alone near 5,000.
EXACT_MAX = 12_000
# More rows than requested are read: some are further windows of one memory, or filtered out.
SPARE = 30

ScoredIds = Iterable[tuple[UUID, float]]

_SCAN = """
    SELECT near.memory_id, near.distance, EXISTS (
        SELECT 1 FROM memories_memory WHERE id = near.memory_id AND {condition} OFFSET 0
    )
    FROM (
        SELECT memory_id, embedding <=> %(vector)s::vector AS distance FROM memories_memoryvector
        WHERE workspace_id = %(workspace)s AND model = %(model)s AND is_live
        ORDER BY 2, 1 LIMIT %(wanted)s
    ) AS near
"""
# The sub-select runs per vector; the planner would turn EXISTS into a join. The model is a literal,
# because the index is of one model, and the plan is kept for all parameters.
_GRAPH = """
    SELECT memory_id, embedding <=> %(vector)s::vector FROM memories_memoryvector
    WHERE workspace_id = %(workspace)s AND model = {indexed_model} AND is_live AND (
        SELECT id FROM memories_memory WHERE id = memory_id AND {condition} LIMIT 1
    ) IS NOT NULL
    ORDER BY embedding::{kind} <=> %(vector)s::{kind} LIMIT %(wanted)s
"""


def nearest(
    recallable: Rows[Memory],
    vector: np.ndarray,
    model: str,
    limit: int,
    *,
    size: int | None = None,
) -> dict[UUID, float]:
    """Return the nearest live memories, nearest first, with the cosine of their nearest window.

    `recallable` is a subset of `Memory.objects.recallable()`; for querysets with hidden memories
    use `nearest_among`. `size` is `corpus_size()`, if the caller has it.
    """
    wanted = limit + max(limit // 2, SPARE)
    if (corpus_size() if size is None else size) <= EXACT_MAX:
        near, is_complete = _scan(recallable, vector, model, wanted, limit)
    else:
        near, is_complete = _by_graph(recallable, vector, model, wanted, limit)
        if _is_stuck(near):
            near, is_complete = _scan(recallable, vector, model, wanted, limit)
    if not is_complete:
        return nearest_among(queryset_of(recallable), vector, model, limit)
    return dict(list(near.items())[:limit])


def nearest_among(
    memories: QuerySet[Memory], vector: np.ndarray, model: str, limit: int
) -> dict[UUID, float]:
    """Return the nearest of given memories (hidden ones too) by reading the vectors of each."""
    with by_index_sorted():
        rows = list(
            memories.filter(vectors__model=model)
            .order_by()
            .values_list("pk")
            .annotate(distance=Min(CosineDistance("vectors__embedding", vector)))
            .order_by("distance", "pk")[:limit]
        )
    return {memory_id: 1.0 - float(distance) for memory_id, distance in rows}


def corpus_size() -> int:
    """Return the number of indexed memories of the workspace, including hidden ones."""
    return CorpusSize.objects.values_list("memories", flat=True).first() or 0


def _scan(
    recallable: Rows[Memory], vector: np.ndarray, model: str, wanted: int, limit: int
) -> tuple[dict[UUID, float], bool]:
    """Scan all vectors, then filter the nearest; return them and whether none can be missing.

    The column has no fixed width, so no HNSW index applies here.
    """
    with by_index():
        rows = _rows(_SCAN, recallable, vector, model, wanted)
    near = _best((i, d) for i, d, is_allowed in rows if is_allowed)
    return near, len(near) >= limit or len(rows) < wanted


def _by_graph(
    recallable: Rows[Memory], vector: np.ndarray, model: str, wanted: int, limit: int
) -> tuple[dict[UUID, float], bool]:
    """Query the HNSW index with an iterative scan until enough results are recallable.

    The second value is whether there were enough: a scan that ends before has passed few that are
    recallable, and may have missed others that its graph does not reach from the query.
    """
    width = len(vector)
    kind = "vector" if width <= VECTOR_MAX_WIDTH else "halfvec"
    with by_index_in_order():
        names = {"kind": f"{kind}({width})", "indexed_model": _literal(model)}
        rows = _rows(_GRAPH, recallable, vector, model, wanted, **names)
    near = _best(rows)
    return near, len(near) >= limit and len(rows) >= wanted


def _literal(text: str) -> str:
    """Return a text as a constant of a statement that has parameters."""
    return sql.Literal(text).as_string(connection.connection).replace("%", "%%")


def _is_stuck(near: dict[UUID, float]) -> bool:
    """Return whether most of the found memories have the same vector.

    Very many identical vectors are linked to each other alone, and a search of the graph that
    enters there finds nothing else, however near.
    """
    [(_, alike)] = Counter(near.values()).most_common(1) or [(0.0, 0)]
    return alike > SPARE


def _rows(
    statement: str,
    recallable: Rows[Memory],
    vector: np.ndarray,
    model: str,
    wanted: int,
    **words: str,
) -> list[Any]:
    condition = condition_of(recallable)
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(
            statement.format(condition=condition.sql, **words),
            condition.parameters
            | {
                "workspace": current_workspace_id(),
                "vector": PackedVector(vector),
                "model": model,
                "wanted": wanted,
            },
        )
        rows: list[Any] = cursor.fetchall()
        return rows


def _best(rows: ScoredIds) -> dict[UUID, float]:
    """Return the cosine of each memory's nearest window, nearest memory first."""
    cosines: dict[UUID, float] = {}
    for memory_id, distance in rows:
        cosines[memory_id] = max(1.0 - float(distance), cosines.get(memory_id, -1.0))
    return dict(sorted(cosines.items(), key=lambda item: (-item[1], item[0])))
