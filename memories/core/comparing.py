"""Compare the texts of one call, each pair once, up to a maximum number of characters."""

from __future__ import annotations

import math
from collections.abc import Iterable

from memories.core.claims import Comparison, Reading, compare
from memories.core.reading import read_cached

# Characters that one call compares, both texts of each pair counted: about one and a half seconds.
# A text of 8,000 characters beside five such neighbours comes to 80,000.
CHARS_A_CALL = 250_000
COMPARED_LATER = "too long to compare here; compared in the background"


class Comparer:
    """Parses and compares texts for one call, and counts the compared characters."""

    def __init__(self, chars: float = math.inf):
        self.left = chars
        self._readings: dict[str, Reading] = {}
        self._comparisons: dict[tuple[str, str], Comparison] = {}

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

    def compare(self, stored: str, incoming: str) -> Comparison:
        """Return the comparison of two texts; compare them once."""
        pair = (stored, incoming)
        if pair not in self._comparisons:
            self._comparisons[pair] = compare(self.read(stored), self.read(incoming))
        return self._comparisons[pair]


def deferred_comparison() -> Comparison:
    """Return the comparison of texts that are left to the background: `different`."""
    return Comparison("different", (COMPARED_LATER,), 0.0, None, None, likeness=0.0)
