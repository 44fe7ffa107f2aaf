"""How well each part of the service does in a workspace, as a score, a status and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Status = Literal["healthy", "degraded", "unhealthy"]
Word = Literal["healthy", "unknown", "learning", "starting", "degraded", "unhealthy"]
WORST_FIRST: Final[tuple[Word, ...]] = (
    "unhealthy", "degraded", "starting", "learning", "healthy", "unknown",
)  # fmt: skip
STATUSES: Final = ("healthy", "degraded", "unhealthy")
HEALTHY: Final = 0.8
DEGRADED: Final = 0.5
STARTING_WORDS: Final = "Not every process has reported since the start a moment ago."
DOMAINS: Final = (
    "predictor", "queue", "storage", "index", "provider", "detection", "duplicates", "gate",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Domain:
    """One part: `score` in [0, 1], what it was made of, and what it means."""

    name: str
    score: float
    says: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    is_learning: bool = False  # nothing is wrong, its score is that of one which still learns
    is_starting: bool = False  # a process has not reported yet, shortly after the start
    is_unknown: bool = False  # there is too little to tell by; its score is that of no fault

    @property
    def status(self) -> Status:
        """Return the score as a word."""
        return status_of(self.score)

    @property
    def word(self) -> Word:
        """Return the status for people, to whom `degraded` means that something is wrong."""
        if self.is_starting:
            return "starting"
        if self.is_unknown:
            return "unknown"
        return "learning" if self.is_learning else self.status


def status_of(score: float) -> Status:
    """Return a score as a word; 0.8 and 0.5 are the bounds of the source document."""
    if score >= HEALTHY - 1e-9:
        return "healthy"
    return "degraded" if score >= DEGRADED - 1e-9 else "unhealthy"
