"""What a session's record says of a memory that it was given, as bars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memories.core.shares import percent, score
from memories.models import SessionCandidate

FULL = 100  # the width of a bar


@dataclass(frozen=True, slots=True)
class Bar:
    """One factor: its name, its value from 0 to 1 and as pages write it, and what it says."""

    name: str
    value: float
    written: str
    says: str

    @property
    def width(self) -> float:
        """Return the width of the bar."""
        return round(FULL * min(1.0, max(0.0, self.value)), 1)


def bars_of_candidate(row: SessionCandidate) -> list[Bar]:
    """Return the bars of a memory's record in a session; what was not scored has none."""
    values: tuple[tuple[str, float | None, Callable[[float], str], str], ...] = (
        ("Meaning", row.cosine, percent, "how near it is to what the session is about"),
        ("Recall", row.recall_score, score, "the score that a recall of the same gives it"),
        ("Relevance", row.relevance, percent, "probability that it is of use"),
        ("× Diversity", row.diversity, score, "1: it repeats none of the better ones"),
    )
    return [
        Bar(name, value, write(value), says)
        for name, value, write, says in values
        if value is not None
    ]
