"""Bounds of the text that is compared claim by claim, and a comparer that keeps to one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from memories.core.claims import ClaimComparison, Reading, compare
from memories.core.reading import read_cached

# Characters of texts that are compared each with each, in both directions, while a caller waits: a
# tenth of a second.
MAX_COMPARED_CHARS: Final = 4_000
# Characters that one call compares, both texts of each pair counted: about one and a half seconds.
# A text of 8,000 characters beside five such neighbours comes to 80,000.
CHARS_A_CALL: Final = 250_000
COMPARED_LATER: Final = "too long to compare here; compared in the background"


def too_long_together(texts: Iterable[str]) -> str:
    """Return why texts are too long to compare while a caller waits; "" when they are not."""
    if sum(map(len, texts)) <= MAX_COMPARED_CHARS:
        return ""
    return f"texts of more than {MAX_COMPARED_CHARS:,} characters together"


class Comparer:
    """Parses and compares texts for one call, and counts the compared characters."""

    def __init__(self, chars: float = math.inf):
        self.left = chars
        self._readings: dict[str, Reading] = {}
        self._comparisons: dict[tuple[str, str], ClaimComparison] = {}

    def has_room(self, stored: Iterable[str], incoming: str) -> bool:
        """Return whether all these pairs fit into the rest of the bound; if so, count them."""
        new = {text for text in stored if (text, incoming) not in self._comparisons}
        chars = sum(len(text) + len(incoming) for text in new)
        if chars > self.left:
            return False
        self.left -= chars
        return True

    def read(self, text: str) -> Reading:
        """Return the reading of a text; parse it once."""
        if text not in self._readings:
            self._readings[text] = read_cached(text)
        return self._readings[text]

    def compare(self, stored: str, incoming: str) -> ClaimComparison:
        """Return the comparison of two texts; compare them once."""
        pair = (stored, incoming)
        if pair not in self._comparisons:
            self._comparisons[pair] = compare(self.read(stored), self.read(incoming))
        return self._comparisons[pair]


def deferred_comparison() -> ClaimComparison:
    """Return the comparison of texts that are left to the background: `different`."""
    return ClaimComparison("different", (COMPARED_LATER,), 0.0, None, None, likeness=0.0)
