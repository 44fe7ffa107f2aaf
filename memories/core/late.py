"""Score memories by late interaction: match each query token with the tokens of a memory.

Khattab & Zaharia 2020 (ColBERT) over the token states of a sentence encoder that was not trained
for it. For a query with the tokens t, each with the inverse document frequency w_t of its word,
and the window of a memory that matches best (the one with the largest Σ w_t · met_t):

    met_t(m)  = max(0, largest cosine of t with a token of the window) squared
    late(m)   = Σ w_t · max(met_t(m), R · met_t(before m), S · met_t(after m)) / Σ w_t

Only tokens of words that are index terms are used, in queries and in memories: on LoCoMo's
development half they are 40 % of all tokens, and leaving the others out cost .005 of recall@10.
The square lowers the score of text that is similar but does not mean the same. The turns
before and after a memory in its session match words that it does not repeat ("Yes, in May").
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
QUERY_TOKENS = 48  # those of the largest weights; only pasted texts have more
LENGTH_SQUARED = 127 * 127  # states are unit vectors times 127


def choose(states: Bytes, words: Sequence[str]) -> Bytes:
    """Return the token states to store of a window: those of index terms, all when it has none."""
    return states[chosen(words)]


def chosen(words: Sequence[str]) -> list[int]:
    """Return the positions of the tokens whose states are stored, by the word of each token."""
    wanted = [position for position, word in enumerate(words) if _terms(word)]
    return wanted or list(range(len(words)))


def weigh(words: Sequence[str], weights: Mapping[str, float], unknown: float) -> Floats:
    """Return the weights of query tokens: that of each word's rarest term, divided by its tokens.

    Parameters
    ----------
    words : the word of each token.
    weights : inverse document frequency of the terms of the corpus.
    unknown : the weight of a term of no memory.
    """
    found = np.zeros(len(words), dtype=np.float32)
    for position, word in enumerate(words):
        if terms := _terms(word):
            # Tokens of one word are adjacent; a repeated word counts each time.
            found[position] = max(weights.get(term, unknown) for term in terms) / _parts(
                words, position
            )
    if len(found) > QUERY_TOKENS:
        found[np.argsort(-found, kind="stable")[QUERY_TOKENS:]] = 0
    return found


def score(
    query: Bytes,
    weights: Floats,
    memories: Mapping[Id, Sequence[Bytes]],
    *,
    previous: Mapping[Id, Id | None],
    following: Mapping[Id, Id | None],
) -> dict[Id, float]:
    """Return `late` of each memory, in [0, 1]; empty when no query token has a weight.

    Parameters
    ----------
    memories : the token states of some windows of each memory.
    """
    counted = np.flatnonzero(weights)
    windows = [(i, states) for i, found in memories.items() for states in found if len(states)]
    if not len(counted) or not windows:
        return {}
    share = weights[counted].astype(np.float64) / float(weights[counted].sum(dtype=np.float64))
    met: dict[Id, NDArray[np.float64]] = {}
    best_cosines = _best_cosines(query[counted], [states for _, states in windows])
    for (i, _), row in zip(windows, best_cosines, strict=True):
        if i not in met or row @ share > met[i] @ share:
            met[i] = row
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


def _best_cosines(query: Bytes, windows: Sequence[Bytes]) -> NDArray[np.float64]:
    """Return the squared largest cosines, (windows, query tokens)."""
    starts = np.cumsum([0, *(len(states) for states in windows[:-1])])
    flat = np.concatenate(windows).astype(np.float32)
    # Whole numbers below 2**24, which float32 holds exactly: the sums do not depend on their order.
    products = query.astype(np.float32) @ flat.T
    best = np.maximum.reduceat(products, starts, axis=1).T.astype(np.float64) / LENGTH_SQUARED
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
