"""Compare two quotes of one transcript: whether they quote the same passage, or say the same."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
SAME_FROM: Final = 0.5  # share of the shorter quote's words that both have
REPEATED_FROM: Final = 0.72  # share of common words (Jaccard) of two facts


def overlaps(a: str, b: str) -> bool:
    """Return whether one quote contains the other, or has half of the words of the shorter.

    Case, signs and blanks do not count; a word counts as often as it is written.
    """
    left, right = (_WORD.findall(text.lower()) for text in (a, b))
    if not left or not right:
        return False
    short, long = sorted((left, right), key=len)
    if f" {' '.join(short)} " in f" {' '.join(long)} ":
        return True
    return sum((Counter(left) & Counter(right)).values()) >= SAME_FROM * len(short)


def repeats(a: frozenset[str], b: frozenset[str]) -> bool:
    """Return whether two quotes have nearly the same words; another number is another fact."""
    if any(any(map(str.isdigit, word)) for word in a ^ b):
        return False
    return len(a & b) >= REPEATED_FROM * len(a | b)


class Repetitions:
    """Finds what repeats an earlier quote, compared only with those that may.

    Quotes with so many common words share one among their few rarest: of n words, with t to be
    common, one of the n - t + 1 rarest.
    """

    def __init__(self, quotes: Collection[frozenset[str]]):
        self._counts = Counter(word for words in quotes for word in words)
        self._by_word: defaultdict[str, list[frozenset[str]]] = defaultdict(list)

    def has(self, words: frozenset[str]) -> bool:
        """Return whether an added quote is repeated by these words."""
        return any(
            repeats(words, other) for word in self._rarest(words) for other in self._by_word[word]
        )

    def add(self, words: frozenset[str]) -> None:
        """Add a quote that is kept."""
        for word in self._rarest(words):
            self._by_word[word].append(words)

    def _rarest(self, words: frozenset[str]) -> list[str]:
        common = math.ceil(REPEATED_FROM * len(words))
        rarest = sorted(words, key=lambda word: (self._counts[word], word))
        return rarest[: len(words) - common + 1] or [""]
