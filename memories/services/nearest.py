"""The nearest memories by meaning: exactly while a workspace is small, by an index beyond.

An exact scan reads every live vector of the workspace; HNSW reads a few hundred of all workspaces'
vectors and drops the others'. Figures stand in `benchmarks/results`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

import numpy as np
from django.db.models import F, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Cast
from pgvector.django import CosineDistance, HalfVectorField, VectorField

from engram.kernel.planning import Among, by_index, by_index_in_order, by_index_sorted
from memories.models import CorpusSize, Memory, MemoryVector
from memories.services.index import VECTOR_MAX_WIDTH

# Memories of a workspace up to which its vectors are scanned. A scan costs the database 1 ms for a
# thousand; the graph 5 ms where most of the table is the workspace's own, 23 ms where a tenth is,
# 206 ms where half a percent is. Between these they meet near 15,000 of 100,000, alone near 5,000.
EXACT_MAX = 12_000
# So many more are read than asked for: some are further windows of one memory, or filtered out.
SPARE = 30

Rows = Iterable[tuple[UUID, float]]


def nearest(
    recallable: QuerySet[Memory],
    vector: np.ndarray,
    model: str,
    limit: int,
    *,
    size: int | None = None,
) -> dict[UUID, float]:
    """Return the nearest live memories, nearest first, with the cosine of their nearest window.

    `recallable` is a part of `Memory.objects.recallable()`; for what may hold hidden memories as
    well there is `nearest_among`. `size` is `corpus_size()`, for callers who know it.
    """
    wanted = limit + max(limit // 2, SPARE)
    live = MemoryVector.objects.filter(model=model, is_live=True).order_by()
    if (corpus_size() if size is None else size) <= EXACT_MAX:
        near, is_all = _scanned(live, recallable, vector, wanted)
    else:
        near, is_all = _by_graph(live, recallable, vector, wanted), False
    if len(near) < limit and not is_all:  # the filters leave too few of the nearest
        return nearest_among(recallable, vector, model, limit)
    return dict(list(near.items())[:limit])


def nearest_among(
    memories: QuerySet[Memory], vector: np.ndarray, model: str, limit: int
) -> dict[UUID, float]:
    """Return the nearest of any memories, exactly: each one's vectors are looked up."""
    with by_index_sorted():
        rows = list(
            memories.filter(vectors__model=model)
            .order_by()
            .values_list("pk")
            .annotate(distance=Min(CosineDistance("vectors__embedding", vector)))
            .order_by("distance", "pk")[:limit]
        )
    return {memory_id: 1.0 - float(distance) for memory_id, distance in rows}


def cosines_of(ids: Sequence[UUID], vector: np.ndarray, model: str) -> dict[UUID, float]:
    """Return the cosine of the nearest window of each named memory that has vectors."""
    rows = MemoryVector.objects.filter(Among(F("memory_id"), ids), model=model).order_by()
    return _best(rows.values_list("memory_id", CosineDistance("embedding", vector)))


def corpus_size() -> int:
    """Return how many memories the workspace's index holds, hidden ones too."""
    return CorpusSize.objects.values_list("memories", flat=True).first() or 0


def _scanned(
    live: QuerySet[MemoryVector], recallable: QuerySet[Memory], vector: np.ndarray, wanted: int
) -> tuple[dict[UUID, float], bool]:
    """Scan all vectors, then look the nearest up; tell whether these were all there are.

    The column itself has no width, so that no HNSW index serves this.
    """
    with by_index():
        nearest_first = live.annotate(distance=CosineDistance("embedding", vector))
        rows = list(
            nearest_first.order_by("distance", "memory_id").values_list("memory_id", "distance")[
                :wanted
            ]
        )
        allowed = set(
            recallable.filter(Among(F("pk"), {memory_id for memory_id, _ in rows}))
            .order_by()
            .values_list("pk", flat=True)
        )
    return _best(row for row in rows if row[0] in allowed), len(rows) < wanted


def _by_graph(
    live: QuerySet[MemoryVector], recallable: QuerySet[Memory], vector: np.ndarray, wanted: int
) -> dict[UUID, float]:
    """Ask the HNSW index, which goes on until enough of what it finds may be recalled.

    The sub-select (not EXISTS, which would be turned into a join) is asked vector by vector.
    """
    found = recallable.filter(pk=OuterRef("memory_id")).order_by().values("pk")[:1]
    width = len(vector)
    typed = (
        VectorField(dimensions=width)
        if width <= VECTOR_MAX_WIDTH
        else HalfVectorField(dimensions=width)
    )
    rows = (
        live.alias(allowed=Subquery(found))
        .filter(allowed__isnull=False)
        .order_by(CosineDistance(Cast("embedding", typed), vector))
        .values_list("memory_id", CosineDistance("embedding", vector))[:wanted]
    )
    with by_index_in_order():
        return _best(list(rows))


def _best(rows: Rows) -> dict[UUID, float]:
    """Return the cosine of each memory's nearest window, nearest memory first."""
    cosines: dict[UUID, float] = {}
    for memory_id, distance in rows:
        cosines[memory_id] = max(1.0 - float(distance), cosines.get(memory_id, -1.0))
    return dict(sorted(cosines.items(), key=lambda item: (-item[1], item[0])))
