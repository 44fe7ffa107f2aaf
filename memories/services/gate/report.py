"""What the gate compares, and what it says of a statement and its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.core.claims import ClaimComparison
from memories.core.gate import GateDecision, GateOutcome
from memories.core.relations import Relation
from memories.models import Memory
from memories.services.gate.neighbours import NearMemory
from memories.services.gate.suggestions import Proposal

PROBABLY_KNOWN: frozenset[GateOutcome] = frozenset(["merged", "suggested"])


@dataclass(frozen=True, slots=True)
class NewStatement:
    """The statement that the gate compares with its neighbours."""

    content: str
    digest: str
    scope: str
    project: str
    provenance: str


@dataclass(frozen=True, slots=True)
class JudgedNeighbour:
    """One neighbour, its comparison with the statement, and the decision for this pair alone."""

    memory: Memory
    similarity: float | None
    comparison: ClaimComparison
    decision: GateDecision

    def as_proposal(self, statement: Memory, at: datetime) -> Proposal:
        """Return the proposal to merge the neighbour with the memory that makes the statement."""
        return Proposal(
            self.memory, statement, self.comparison.relation, self.similarity,
            self.decision.reasons, at,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class GateReport:
    """The neighbours that the gate compared and its decision for one draft."""

    outcome: GateOutcome = "created"
    best: JudgedNeighbour | None = None
    # All neighbours, of this place and of other scopes.
    around: tuple[NearMemory, ...] = ()
    # Other neighbours that are probably duplicates; merges with them are suggested.
    also: tuple[JudgedNeighbour, ...] = ()
    is_triggered: bool = False  # at least one neighbour was compared
    is_left_for_later: bool = False  # beyond the budget of this call
    # The relations to the compared neighbours, by memory id.
    relations: Mapping[UUID, Relation] = field(default_factory=dict)

    @property
    def nearest(self) -> Memory | None:
        """Return the neighbour that determined the outcome."""
        return self.best.memory if self.best else None

    @property
    def similarity(self) -> float | None:
        """Return the cosine to that neighbour."""
        return self.best.similarity if self.best else None

    @property
    def comparison(self) -> ClaimComparison | None:
        """Return the comparison with that neighbour."""
        return self.best.comparison if self.best else None

    @property
    def decision(self) -> GateDecision | None:
        """Return the decision for that neighbour."""
        return self.best.decision if self.best else None

    def as_record(self) -> dict[str, Any]:
        """Return the report as JSON, as it is stored and returned."""
        return {
            "nearest_id": str(self.best.memory.id) if self.best else None,
            "similarity": self.best.similarity if self.best else None,
            "relation": self.best.comparison.relation if self.best else None,
            "reasons": list(self.best.decision.reasons) if self.best else [],
        }
