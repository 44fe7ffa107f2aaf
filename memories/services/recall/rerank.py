"""Rerank the best of the pool by comparing token states with the query's (late interaction)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from engram.kernel.embedding import QueryReading, has_token_states
from memories.core import bm25, late
from memories.services.index.tokens import tokens_of
from memories.services.recall.pool import RecallPool

ON = "on"
NOT_ASKED = "off"
NO_TOKENS = "off: this embedding model does not tell what it makes of each token"
NO_TERMS = "off: the query holds no index term"


def stage(reading: QueryReading | None, model: str, *, has_terms: bool, is_wanted: bool) -> str:
    """Return whether the second stage runs, and the reason if not."""
    if not is_wanted:
        return NOT_ASKED
    if not has_token_states(model) or (reading is not None and reading.tokens is None):
        return NO_TOKENS
    return ON if has_terms and reading is not None else NO_TERMS


def late_scores(
    reading: QueryReading,
    model: str,
    *,
    pool: RecallPool,
    ids: Collection[UUID],
    besides: Mapping[UUID, Sequence[late.Bytes]],
) -> dict[UUID, float]:
    """Return `late` of the named memories whose token states are stored.

    `besides` are states that are not stored, of past wordings.
    """
    if reading.tokens is None:
        return {}
    vocabulary = pool.vocabulary
    size = vocabulary.memories
    weights = late.weigh(
        reading.tokens.words,
        {term: bm25.idf(count, size) for term, count in vocabulary.frequencies.items()},
        unknown=bm25.idf(0, size),
    )
    stored = tokens_of([i for i in ids if i not in besides], reading.vector, model)
    return late.score(
        reading.tokens.states,
        weights,
        stored | {i: besides[i] for i in ids if i in besides},
        previous=pool.previous,
        following=pool.next,
    )
