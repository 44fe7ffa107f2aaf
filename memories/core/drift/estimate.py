"""What an embedding model tells of two wordings."""

from __future__ import annotations

from typing import Protocol

from memories.core.likelihood import Likelihood


class Estimate(Protocol):
    """Tells how two statements relate, and how near two phrases are."""

    def __call__(self, before: str, after: str) -> Likelihood:
        """Return how likely two statements say the same."""
        ...

    def nearness(self, one: str, other: str) -> float:
        """Return the cosine of two phrases."""
        ...
