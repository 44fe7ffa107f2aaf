"""The first stage of recall: a pool by meaning and by words, each member with both raw scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from django.db.models import QuerySet

from engram.kernel.planning import by_index, in_index_order
from memories.models import Memory
from memories.services.nearest import cosines_of, nearest, nearest_among
from memories.services.sessions import neighbours
from memories.services.words import by_words, vocabulary_of, words_of

__all__ = ["Pool", "by_meaning", "gather", "nearest"]

BY_MEANING = 100
BY_WORDS = 100


@dataclass(slots=True)
class Pool:
    """The memories that recall ranks; all maps are by memory id."""

    cosines: dict[UUID, float] = field(default_factory=dict)
    words: dict[UUID, float] = field(default_factory=dict)  # bm25.share, 0..1
    previous: dict[UUID, UUID | None] = field(default_factory=dict)
    next: dict[UUID, UUID | None] = field(default_factory=dict)
    ids: set[UUID] = field(default_factory=set)


def gather(
    recallable: QuerySet[Memory],
    vector: np.ndarray | None,
    model: str,
    query_terms: Collection[str],
    always: Iterable[UUID] = (),
    *,
    is_present: bool = True,
) -> Pool:
    """Return the best by meaning, the best by words, their neighbours in the session, `always`.

    `is_present` is False when `recallable` holds memories that are hidden by now.
    """
    pool = Pool()
    vocabulary = vocabulary_of(query_terms)
    if vector is not None:
        search = nearest if is_present else nearest_among
        pool.cosines = search(recallable, vector, model, BY_MEANING)
    with by_index():
        found = by_words(recallable, vocabulary, BY_WORDS)
        pool.ids = {*pool.cosines, *found, *always}
        with in_index_order():
            _add_neighbours(pool, recallable)
        if vector is not None:
            pool.cosines |= cosines_of(list(pool.ids - pool.cosines.keys()), vector, model)
        pool.words = words_of(pool.ids, vocabulary)
    return pool


def by_meaning(recallable: QuerySet[Memory], vector: np.ndarray, model: str) -> dict[UUID, float]:
    """Return the nearest memories with the cosine of their nearest window."""
    return nearest(recallable, vector, model, BY_MEANING)


def _add_neighbours(pool: Pool, recallable: QuerySet[Memory]) -> None:
    """Add the memories around each in its session, then learn what stands around these."""
    _place(pool, recallable, pool.ids)
    around = {i for i in (*pool.previous.values(), *pool.next.values()) if i is not None}
    added = around - pool.ids
    pool.ids |= added
    _place(pool, recallable, added)


def _place(pool: Pool, recallable: QuerySet[Memory], ids: Collection[UUID]) -> None:
    for memory_id, (before, after) in neighbours(recallable, ids).items():
        pool.previous[memory_id], pool.next[memory_id] = before, after
