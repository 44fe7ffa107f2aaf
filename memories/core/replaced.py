"""Compare two texts word by word from both ends: one place replaced, or two words exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from memories.core.spelling import collapse, normalise
from memories.core.tokeniser import tokenise

_MAX_REPLACED: Final = 5  # words of the place
_MIN_OPENING: Final = 2  # words before it
_MIN_COMMON: Final = 6  # words around it


@lru_cache(maxsize=2048)
def words_in_order(text: str) -> tuple[str, ...]:
    """Return the lower-case words of a text, without signs."""
    found = tokenise(normalise(collapse(text)))
    return tuple(token.lower for token in found if token.kind != "symbol")


def common_ends(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    """Return how many words two texts begin and end with in common."""
    most = min(len(left), len(right))
    start = 0
    while start < most and left[start] == right[start]:
        start += 1
    end = 0
    while end < most - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return start, end


def is_replaced(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether two texts differ in one place, which has other words in each."""
    start, end = common_ends(left, right)
    mine, theirs = _between(left, right, start, end)
    return (
        min(len(mine), len(theirs)) > 0
        and max(len(mine), len(theirs)) <= _MAX_REPLACED
        and set(mine).isdisjoint(theirs)
        and start >= _MIN_OPENING
        and start + end >= _MIN_COMMON
    )


def is_exchanged(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether two texts have the same words, of which two changed places.

    "By ping first and by rank second"; neighbours in a list may change places: "Ana and Bert".
    """
    if len(left) != len(right) or left == right:
        return False
    moved = [at for at, (one, other) in enumerate(zip(left, right, strict=True)) if one != other]
    if len(moved) != 2:
        return False
    first, second = moved
    is_swap = left[first] == right[second] and left[second] == right[first]
    return is_swap and any(word not in _LISTING for word in left[first + 1 : second])


def _between(
    left: Sequence[str], right: Sequence[str], start: int, end: int
) -> tuple[Sequence[str], Sequence[str]]:
    return left[start : len(left) - end], right[start : len(right) - end]


_LISTING: Final = frozenset(["and", "or", "nor", "the", "a", "an"])
