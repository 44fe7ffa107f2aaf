"""The redundancy gate at commit: nearest live neighbours, compared claim by claim."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import numpy as np

from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.planning import without_nested_loops
from memories.core.claims import Comparison, compare, read
from memories.core.gate import Decision, better_wording, decide
from memories.core.reading import read_cached
from memories.models import Memory
from memories.services.candidates import nearest
from memories.services.draft import Draft

Outcome = Literal["created", "merged", "kept_apart", "suggested"]
NEIGHBOURS = 5
NEARBY_COSINE = 0.5
NEARBY_MAX = 3
_RANK = {"kept_apart": 0, "merged": 1, "suggested": 2, "created": 3}


@dataclass(frozen=True, slots=True)
class GateReport:
    """What the gate saw and decided for one draft."""

    outcome: Outcome = "created"
    nearest: Memory | None = None
    similarity: float | None = None
    comparison: Comparison | None = None
    decision: Decision | None = None
    nearby: tuple[Memory, ...] = ()

    def as_record(self) -> dict[str, Any]:
        """Return what the observation keeps of it."""
        return {
            "nearest_id": str(self.nearest.id) if self.nearest else None,
            "similarity": self.similarity,
            "relation": self.comparison.relation if self.comparison else None,
            "reasons": list(self.decision.reasons) if self.decision else [],
        }


def neighbours(
    vector: np.ndarray, model: str, now: datetime, *, scope: str, project: str
) -> list[tuple[Memory, float]]:
    """Return the nearest live memories of the same scope and project with their cosine."""
    place = Memory.objects.recallable(now).filter(scope=scope, project=project)
    with without_nested_loops():
        cosines = nearest(place, vector, model, NEIGHBOURS)
    memories = Memory.objects.in_bulk(list(cosines))
    return [(memories[memory_id], cosine) for memory_id, cosine in cosines.items()]


def examine(
    draft: Draft, vectors: np.ndarray, model: str, config: WorkspaceSettings, now: datetime
) -> GateReport:
    """Compare a draft with its neighbours; a contradiction weighs more than a merge."""
    found = neighbours(vectors[0], model, now, scope=draft.scope, project=draft.project)
    if not found:
        return GateReport()
    incoming = read(draft.content)
    best: GateReport | None = None
    nearby: list[Memory] = []
    for memory, cosine in found:
        if best is not None and cosine < min(config.gate_threshold, NEARBY_COSINE):
            break  # the others are farther still; the nearest one's relation is always told
        stored = read_cached(memory.content)
        comparison = compare(stored, incoming)
        better = better_wording(memory.content, draft.content, stored, incoming)
        decision = decide(
            comparison,
            cosine,
            threshold=config.gate_threshold,
            policy=config.gate_policy,
            provenance_stored=memory.provenance,
            provenance_incoming=draft.provenance,
            better="stored" if better == "a" else "incoming",
        )
        report = GateReport(decision.outcome, memory, cosine, comparison, decision)
        if best is None or _RANK[report.outcome] < _RANK[best.outcome]:
            best = report
        if comparison.relation == "different" and cosine >= NEARBY_COSINE:
            nearby.append(memory)
    assert best is not None  # noqa: S101  found is not empty
    return GateReport(
        best.outcome,
        best.nearest,
        best.similarity,
        best.comparison,
        best.decision,
        tuple(nearby[:NEARBY_MAX]),
    )
