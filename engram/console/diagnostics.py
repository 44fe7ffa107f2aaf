"""How well each part of the service does in a workspace, as a score, a status and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from engram.kernel.models import Workspace

Status = Literal["healthy", "degraded", "unhealthy"]
STATUSES: Final = ("healthy", "degraded", "unhealthy")
HEALTHY: Final = 0.8
DEGRADED: Final = 0.5
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

    @property
    def status(self) -> Status:
        """Return the score as a word."""
        return status_of(self.score)


def status_of(score: float) -> Status:
    """Return a score as a word; 0.8 and 0.5 are the bounds of the source document."""
    if score >= HEALTHY - 1e-9:
        return "healthy"
    return "degraded" if score >= DEGRADED - 1e-9 else "unhealthy"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All parts; the whole is as well as its worst part."""

    at: datetime
    domains: tuple[Domain, ...]

    @property
    def by_name(self) -> dict[str, Domain]:
        """Return the parts by their names."""
        return {domain.name: domain for domain in self.domains}

    @property
    def score(self) -> float:
        """Return the lowest score."""
        return min(domain.score for domain in self.domains)

    @property
    def status(self) -> Status:
        """Return the lowest score as a word."""
        return status_of(self.score)


def diagnose(workspace: Workspace, *, now: datetime) -> Diagnosis:
    """Look at every part of the workspace being served."""
    from engram.console import diagnostics_parts as parts
    from engram.console.diagnostics_predictor import predictor

    processes = parts.processes(now)
    gate = parts.gate_metrics(now)
    return Diagnosis(
        at=now,
        domains=(
            predictor(workspace, now=now),
            parts.queue(processes, now=now),
            parts.storage(now=now),
            parts.index(workspace, now=now),
            parts.provider(workspace, now=now),
            parts.detection(workspace, now=now),
            parts.duplicates(gate),
            parts.gate(workspace, gate),
        ),
    )
