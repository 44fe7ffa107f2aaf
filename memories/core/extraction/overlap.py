"""Compare two quotes of one transcript: whether they quote the same passage, or say the same."""

from __future__ import annotations

import re
from collections import Counter
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
