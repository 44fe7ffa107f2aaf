"""Late interaction: how well each word asked for is met by some word of a memory, or next to it.

Khattab & Zaharia 2020 (ColBERT) over the token states of a sentence encoder that was not trained
for it. For a query with the tokens t, each with the inverse document frequency w_t of its word:

    met_t(m)  = max(0, largest cosine of t with a token of the memory m) squared
    late(m)   = Σ w_t · max(met_t(m), R · met_t(before m), S · met_t(after m)) / Σ w_t

Only tokens of words that are index terms count, in queries and in memories: on LoCoMo's
development half they are 40 % of all tokens, and leaving the others out cost .005 of recall@10.
The square keeps what is merely the same sort of text apart from what means the same. The turns
before and after a memory in its session meet words that it does not repeat ("Yes, in May").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memories.core.text import tokens as index_terms

Id = TypeVar("Id")
Bytes = NDArray[np.int8]
Floats = NDArray[np.float32]

REACH_BEFORE = 0.8
REACH_AFTER = 0.7
MEMORY_TOKENS = 256
QUERY_TOKENS = 48  # the weightiest; only pasted texts have more
_SCALE = np.float32(1 / 127)


def choose(states: Bytes, words: Sequence[str]) -> Bytes:
    """Return the states worth storing of a memory: those of index terms, all when it has none."""
    wanted = [position for position, word in enumerate(words) if _terms(word)]
    chosen = states[wanted] if wanted else states
    return chosen[:MEMORY_TOKENS]


def weigh(words: Sequence[str], weights: Mapping[str, float], unknown: float) -> Floats:
    """Weights of a query's tokens: each word's rarest term, shared among the tokens of the word.

    Parameters
    ----------
    words : the word that each token is a part of.
    weights : inverse document frequency of the terms that stand in some memory.
    unknown : the weight of a term that stands in none.
    """
    found = np.zeros(len(words), dtype=np.float32)
    for position, word in enumerate(words):
        if terms := _terms(word):
            # Parts of one word stand in a row; a word said twice counts twice, as in the query.
            found[position] = max(weights.get(term, unknown) for term in terms) / _parts(
                words, position
            )
    if len(found) > QUERY_TOKENS:
        found[np.argsort(-found, kind="stable")[QUERY_TOKENS:]] = 0
    return found


def score(
    query: Bytes,
    weights: Floats,
    memories: Mapping[Id, Bytes],
    *,
    previous: Mapping[Id, Id | None],
    following: Mapping[Id, Id | None],
) -> dict[Id, float]:
    """`late` of each memory, in [0, 1]; nothing when no token of the query carries weight."""
    counted = np.flatnonzero(weights)
    known = {i: states for i, states in memories.items() if len(states)}
    if not len(counted) or not known:
        return {}
    met = dict(zip(known, _met(query[counted], list(known.values())), strict=True))
    share = weights[counted].astype(np.float64) / float(weights[counted].sum(dtype=np.float64))
    scores: dict[Id, float] = {}
    for i, own in met.items():
        reached = own
        for neighbour, reach in (
            (previous.get(i), REACH_BEFORE),
            (following.get(i), REACH_AFTER),
        ):
            if neighbour is not None and neighbour in met:
                reached = np.maximum(reached, reach * met[neighbour])
        scores[i] = min(1.0, float(reached @ share))
    return scores


def _met(query: Bytes, memories: Sequence[Bytes]) -> NDArray[np.float64]:
    """Squared largest cosine, (memories, query tokens)."""
    starts = np.cumsum([0, *(len(states) for states in memories[:-1])])
    flat = np.concatenate(memories).astype(np.float32)
    cosines = (query.astype(np.float32) * _SCALE) @ (flat.T * _SCALE)
    best = np.maximum.reduceat(cosines, starts, axis=1).T.astype(np.float64)
    squared: NDArray[np.float64] = np.clip(best, 0, 1) ** 2
    return squared


def _parts(words: Sequence[str], position: int) -> int:
    """Return how many neighbouring tokens belong to the word of the one at `position`."""
    first = last = position
    while first and words[first - 1] is words[position]:
        first -= 1
    while last + 1 < len(words) and words[last + 1] is words[position]:
        last += 1
    return last - first + 1


@lru_cache(maxsize=20_000)
def _terms(word: str) -> tuple[str, ...]:
    return tuple(index_terms(word))
