"""A look at every part of the service in one workspace."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engram.console.diagnostics import parts
from engram.console.diagnostics.domain import WORST_FIRST, Domain, Status, Word, status_of
from engram.console.diagnostics.predictor import predictor
from engram.kernel import heartbeat
from engram.kernel.models import Workspace


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

    @property
    def word(self) -> Word:
        """Return the status for people: the worst of the parts', where one that learns is well.

        Parts whose processes have not reported yet are not known to be unwell; those that are
        unknown count only where all are.
        """
        words = [domain.word for domain in self.domains]
        return min(words, key=WORST_FIRST.index)


def diagnose(workspace: Workspace, *, now: datetime) -> Diagnosis:
    """Look at every part of the workspace being served."""
    processes = heartbeat.recent_processes(now)
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
