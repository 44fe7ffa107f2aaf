"""Match the words of two texts by their token states, and describe how well they match.

The token states are those that `memories/core/late.py` stores and compares: of words that are index
terms, from the last layer of the sentence encoder, so that a word's state depends on the sentence
around it. Two tokens are matched when each is the other's nearest (mutual nearest neighbours, as in
word alignment by contextual embeddings: Jalili Sabet et al. 2020). A statement that contradicts
another mostly matches it in all words but one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memories.core import late

Floats = NDArray[np.float32]

_WORST: Final = 3  # tokens of a text whose best match is told
_TENS: Final = 10


class WordStates(NamedTuple):
    """The token states (n, width) of a text's index terms, and the word of each token."""

    states: late.Bytes
    words: tuple[str, ...]


def word_states(states: late.Bytes, words: Sequence[str]) -> WordStates | None:
    """Return the states of index terms from the states of all tokens; None for no token."""
    return stored_states(late.choose(states, words), words) if len(states) else None


def stored_states(states: late.Bytes, words: Sequence[str]) -> WordStates | None:
    """Return stored states with the words that they are of; None where the two do not fit.

    `words` are those of all tokens of the text that the states are thought to be of.
    """
    kept = late.chosen(words)
    if not len(states) or len(kept) != len(states):
        return None
    return WordStates(states, tuple(words[i].lower() for i in kept))


def features_of_matches(a: WordStates | None, b: WordStates | None) -> dict[str, float]:
    """Return the features of two texts; all are NaN where the states of one are not known."""
    if a is None or b is None:
        return dict.fromkeys(NAMES, math.nan)
    products: Floats = a.states.astype(np.float32) @ b.states.astype(np.float32).T
    cosines = products / np.float32(late.LENGTH_SQUARED)
    best_a, best_b = cosines.max(1), cosines.max(0)
    found = _mutual(cosines)
    equal = [a.words[i] == b.words[j] for i, j in found]
    other = [
        float(cosines[i, j]) for (i, j), is_equal in zip(found, equal, strict=True) if not is_equal
    ]
    values = (
        *_lowest(best_a),
        *_lowest(best_b),
        float(best_a.mean()),
        float(best_b.mean()),
        _crossings([j for _, j in found]),
        len(found) / min(len(best_a), len(best_b)),
        1 - len(found) / len(best_a),
        1 - len(found) / len(best_b),
        len(other) / _TENS,
        min(other, default=1.0),
        sum(other) / len(other) if other else 1.0,
        max(other, default=1.0),
        float(best_a[0]),
        float(best_b[0]),
        float(best_a[-1]),
        float(best_b[-1]),
        sum(equal) / max(1, len(equal)),
    )
    return dict(zip(NAMES, values, strict=True))


NAMES: Final = (
    "worst token of a", "second worst token of a", "third worst token of a",
    "worst token of b", "second worst token of b", "third worst token of b",
    "mean token of a", "mean token of b", "matches that cross", "share matched",
    "unmatched of a", "unmatched of b", "matches of other words", "worst match of other words",
    "mean match of other words", "best match of other words", "first token of a",
    "first token of b", "last token of a", "last token of b", "share of equal words",
)  # fmt: skip


def _mutual(cosines: Floats) -> list[tuple[int, int]]:
    """Return the pairs of tokens that are each other's nearest, in the order of the first text."""
    nearest_b, nearest_a = cosines.argmax(1), cosines.argmax(0)
    return [(i, int(j)) for i, j in enumerate(nearest_b) if nearest_a[j] == i]


def _lowest(best: Floats) -> list[float]:
    """Return the lowest cosines, ascending; 1 where there are no more tokens."""
    lowest = [float(one) for one in np.sort(best)[:_WORST]]
    return lowest + [1.0] * (_WORST - len(lowest))


def _crossings(places: Sequence[int]) -> float:
    """Return the share of neighbouring matches whose order is the reverse in the second text."""
    if len(places) < 2:
        return 0.0
    pairs = itertools.pairwise(places)
    return sum(one > following for one, following in pairs) / (len(places) - 1)
