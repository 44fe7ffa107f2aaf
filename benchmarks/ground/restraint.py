"""Tell how the threshold of questions rises with what a writer was asked lately."""

from __future__ import annotations

from collections import deque

from memories.core import asking


class Restraint:
    """What a writer was asked about its newest memories, one after the other."""

    def __init__(self) -> None:
        self._counts: deque[int] = deque(maxlen=asking.LATELY)

    @property
    def rise(self) -> float:
        """By how much a score must be higher than where little is asked (0 and more)."""
        lately = sum(self._counts) / asking.LATELY
        return asking.threshold(lately) - asking.WORTH_ASKING

    def add(self, asked: int) -> None:
        """Take in how many questions the next memory was asked."""
        self._counts.append(asked)
