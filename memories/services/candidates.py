"""The first stage of recall: a pool by meaning and by words, each member with both raw scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from django.db.models import QuerySet

from engram.kernel.planning import by_index_in_order
from memories.core.fusion import first_score
from memories.models import Memory
from memories.services.nearest import cosines_of, nearest, nearest_among
from memories.services.sessions import neighbours
from memories.services.words import Vocabulary, by_words, vocabulary_of, words_of

__all__ = ["BREADTH", "Pool", "gather", "nearest"]

# So many by meaning, so many by words, and of both together so many whose neighbours come with
# them; all that a caller wants, when that is more.
BREADTH = 60


@dataclass(slots=True)
class Pool:
    """The memories that recall ranks; all maps are by memory id."""

    vocabulary: Vocabulary
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
    breadth: int = BREADTH,
    is_present: bool = True,
) -> Pool:
    """Return the best by meaning, the best by words, their neighbours in the session, `always`.

    `is_present` is False when `recallable` holds memories that are hidden by now.
    """
    with by_index_in_order():
        pool = Pool(vocabulary_of(query_terms))
        if vector is not None and is_present:
            size = pool.vocabulary.memories
            pool.cosines = nearest(recallable, vector, model, breadth, size=size)
        elif vector is not None:
            pool.cosines = nearest_among(recallable, vector, model, breadth)
        pool.ids = {*pool.cosines, *by_words(recallable, pool.vocabulary, breadth), *always}
        _score(pool, pool.ids, vector, model)
        best = _best(pool, has_vector=vector is not None)[:breadth]
        added = _place(pool, recallable, {*best, *always})
        pool.ids |= added
        _score(pool, added, vector, model)
    return pool


def _score(pool: Pool, ids: Collection[UUID], vector: np.ndarray | None, model: str) -> None:
    """Learn the raw scores of members."""
    if vector is not None:
        unknown = [i for i in ids if i not in pool.cosines]
        pool.cosines |= cosines_of(unknown, vector, model)
    pool.words |= words_of(ids, pool.vocabulary)


def _best(pool: Pool, *, has_vector: bool) -> Sequence[UUID]:
    """Return the members by what they are worth on their own, best first."""
    scores = {
        i: first_score(
            pool.cosines.get(i),
            pool.words.get(i),
            has_vector=has_vector,
            has_terms=bool(pool.vocabulary.terms),
        )
        for i in pool.ids
    }
    return sorted(scores, key=lambda i: (-scores[i], i))


def _place(pool: Pool, recallable: QuerySet[Memory], ids: Collection[UUID]) -> set[UUID]:
    """Learn what stands around memories in their sessions, and around that; return what is new."""
    around: set[UUID] = set()
    for memory_id, (before, after) in neighbours(recallable, ids).items():
        line = [*reversed(before), memory_id, *after]
        at = len(before)
        for place in range(max(at - 1, 0), min(at + 2, len(line))):
            pool.previous[line[place]] = line[place - 1] if place else None
            pool.next[line[place]] = line[place + 1] if place + 1 < len(line) else None
            around.add(line[place])
    return around - pool.ids
