"""Bounds of the text that is compared claim by claim, and a comparer that keeps to one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from memories.core.claims import ClaimComparison, Reading, compare
from memories.core.likelihood import MAX_ESTIMATED, Likelihood, likelihood_of
from memories.core.reading import read_cached
from memories.core.token_matches import WordStates

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
    """Parses, compares and estimates texts for one call, and counts the compared characters.

    `states` are the token states of texts, by text, where the caller has them.
    """

    def __init__(self, chars: float = math.inf):
        self.left = chars
        self.states: dict[str, WordStates] = {}
        self._readings: dict[str, Reading] = {}
        self._counted: set[tuple[str, str]] = set()
        self._comparisons: dict[tuple[str, str], ClaimComparison] = {}
        self._estimates: dict[tuple[str, str, float], Likelihood] = {}

    def has_room(self, stored: Iterable[str], incoming: str) -> bool:
        """Return whether all these pairs fit into the rest of the bound; if so, count them."""
        pairs = {(text, incoming) for text in stored}
        new = pairs - self._counted - self._comparisons.keys()
        chars = sum(len(text) + len(incoming) for text, _ in new)
        if chars > self.left:
            return False
        self.left -= chars
        self._counted |= new
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

    def estimate(self, stored: str, incoming: str, cosine: float) -> Likelihood | None:
        """Return how two near texts probably relate, estimated once; None for long ones.

        `states` should have those of both texts before.
        """
        if max(len(stored), len(incoming)) > MAX_ESTIMATED:
            return None
        key = (stored, incoming, cosine)
        if key not in self._estimates:
            self._estimates[key] = likelihood_of(
                self.read(stored), self.read(incoming), self.compare(stored, incoming), cosine,
                states_a=self.states.get(stored), states_b=self.states.get(incoming),
            )  # fmt: skip
        return self._estimates[key]


def deferred_comparison() -> ClaimComparison:
    """Return the comparison of texts that are left to the background: `different`."""
    return ClaimComparison("different", (COMPARED_LATER,), 0.0, None, None, likeness=0.0)
