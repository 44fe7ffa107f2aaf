"""Gather the pool of recall, by vectors and by words; each member has both raw scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

import numpy as np

from engram.kernel.plain_sql import Rows, queryset_of
from engram.kernel.planning import by_index_in_order
from memories.core.fusion import first_scorer
from memories.models import Memory
from memories.services.index.nearest import nearest, nearest_among
from memories.services.index.postings import Vocabulary, by_words, vocabulary_of
from memories.services.recall.facts import Facts, facts_of
from memories.services.recall.turns import neighbours

__all__ = ["BREADTH", "RecallPool", "WordMatches", "gather", "match_words", "nearest"]

# The sizes of the pool: by vectors, by words, and of both those whose session neighbours are added;
# `k`, if that is larger.
BREADTH = 60


@dataclass(slots=True)
class RecallPool:
    """The memories that recall ranks; all mappings are by memory id."""

    vocabulary: Vocabulary
    facts: dict[UUID, Facts] = field(default_factory=dict)
    previous: dict[UUID, UUID | None] = field(default_factory=dict)
    next: dict[UUID, UUID | None] = field(default_factory=dict)

    @property
    def members(self) -> list[Facts]:
        """Return the memories in the order of their ids."""
        return sorted(self.facts.values(), key=lambda found: found.pk.int)


class WordMatches(NamedTuple):
    """The memories that match the words of a query best, best first."""

    vocabulary: Vocabulary
    best: Collection[UUID]


def match_words(
    recallable: Rows[Memory], query_terms: Collection[str], *, breadth: int = BREADTH
) -> WordMatches:
    """Return the best of the recallable memories by words."""
    with by_index_in_order():
        vocabulary = vocabulary_of(query_terms)
        return WordMatches(vocabulary, by_words(recallable, vocabulary, breadth))


def gather(
    recallable: Rows[Memory],
    vector: np.ndarray | None,
    model: str,
    words: WordMatches,
    always: Iterable[UUID] = (),
    *,
    breadth: int = BREADTH,
    is_present: bool = True,
) -> RecallPool:
    """Return the nearest memories, the best by words, their session neighbours, and `always`.

    `words` are recallable memories too, matched in this transaction or checked in it again.
    `is_present` is False when `recallable` contains memories that are hidden by now, as of a moment
    before: questions are not compared then, because an answer may have been written later.
    """
    with by_index_in_order():
        pool = RecallPool(words.vocabulary)
        near: Collection[UUID] = ()
        if vector is not None and is_present:
            size = pool.vocabulary.memories
            near = nearest(recallable, vector, model, breadth, size=size)
        elif vector is not None:
            near = nearest_among(queryset_of(recallable), vector, model, breadth)
        found = {*near, *words.best, *always}
        pool.facts |= facts_of(found, pool.vocabulary, vector, model, has_questions=is_present)
        best = _best(pool, has_vector=vector is not None)[:breadth]
        added = _add_neighbours(pool, recallable, {*best, *always})
        pool.facts |= facts_of(added, pool.vocabulary, vector, model, has_questions=is_present)
    return pool


def _best(pool: RecallPool, *, has_vector: bool) -> Sequence[UUID]:
    """Return the members by their own score, best first."""
    score = first_scorer(has_vector=has_vector, has_terms=bool(pool.vocabulary.terms))
    best = sorted(pool.members, key=lambda found: -score(found.cosine, found.words))
    return [found.pk for found in best]


def _add_neighbours(pool: RecallPool, recallable: Rows[Memory], ids: Collection[UUID]) -> set[UUID]:
    """Add the session neighbours of memories, two steps each way; return the new members."""
    around: set[UUID] = set()
    for memory_id, (before, after) in neighbours(recallable, ids).items():
        line = [*reversed(before), memory_id, *after]
        at = len(before)
        for place in range(max(at - 1, 0), min(at + 2, len(line))):
            pool.previous[line[place]] = line[place - 1] if place else None
            pool.next[line[place]] = line[place + 1] if place + 1 < len(line) else None
            around.add(line[place])
    return around - pool.facts.keys()
