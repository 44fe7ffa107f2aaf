"""Run the redundancy gate at commit: compare the nearest live neighbours claim by claim."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np

from engram.kernel.actors import Actor
from engram.kernel.configuration import WorkspaceSettings
from memories.core.claims import ClaimComparison
from memories.core.comparing import COMPARED_LATER, Comparer, deferred_comparison
from memories.core.gate import GateDecision, GateOutcome, Side, choose_better_wording, decide
from memories.core.likelihood import Likelihood
from memories.core.objections import objection
from memories.core.reasons import distinct
from memories.core.relations import Relation
from memories.models import Memory, Provenance
from memories.services.disputes import disputes_of
from memories.services.gate.neighbours import NearMemory, find_neighbours
from memories.services.gate.suggestions import Proposal, kept_apart_from
from memories.services.index.tokens import incoming_states, word_states_of
from memories.services.review.trust import is_decided_by_person, why_untrusted

NEIGHBOURS = 5
_RANK: dict[GateOutcome, int] = {"kept_apart": 0, "merged": 1, "suggested": 2, "created": 3}
_PROBABLY_KNOWN = frozenset(["merged", "suggested"])


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


def examine(
    statement: NewStatement,
    vectors: np.ndarray,
    model: str,
    config: WorkspaceSettings,
    *,
    actor: Actor,
    now: datetime,
    besides: Collection[UUID] = (),
    size: int | None = None,
    comparer: Comparer | None = None,
) -> GateReport:
    """Compare a statement with its neighbours; a contradiction takes precedence over a merge.

    `besides` are ids to ignore, such as the statement's own memory. `size` is `corpus_size()`, if
    the caller has it. If the budget of `comparer` does not cover all near neighbours, the statement
    is compared with none and the report has `is_left_for_later`.
    """
    found = find_neighbours(
        vectors[0], model, NEIGHBOURS,
        scope=statement.scope, project=statement.project, now=now, size=size,
    )  # fmt: skip
    around = tuple(row for row in (*found.here, *found.elsewhere) if row[0].id not in besides)
    here = [row for row in found.here[:NEIGHBOURS] if row[0].id not in besides]
    comparer = comparer or Comparer()
    near = _near(here, config)
    if not comparer.has_room([memory.content for memory, _ in near], statement.content):
        return _postpone(statement, near[0], around, config)
    compared = [memory for memory, _ in estimated(near, [config])]
    if compared:
        comparer.states |= incoming_states(statement.content, vectors)
        comparer.states |= word_states_of(compared, model)
    judged = _respect_decisions(statement, _judge(statement, near, config, comparer), actor)
    if not judged:
        return GateReport(around=around)
    best = min(judged, key=lambda one: _RANK[one.decision.outcome])
    return GateReport(
        outcome=best.decision.outcome,
        best=best,
        around=around,
        also=tuple(
            one for one in judged if one is not best and one.decision.outcome in _PROBABLY_KNOWN
        ),
        is_triggered=(judged[0].similarity or 0.0) >= config.gate_threshold,
        relations={one.memory.id: one.comparison.relation for one in judged},
    )


def _postpone(
    statement: NewStatement,
    nearest: NearMemory,
    around: tuple[NearMemory, ...],
    config: WorkspaceSettings,
) -> GateReport:
    """Return the report of a statement that exceeds the budget of this call."""
    memory, cosine = nearest
    comparison = deferred_comparison()
    decision = _decide(statement, memory, cosine, comparison, config, better="stored")
    is_left = COMPARED_LATER in decision.reasons
    return GateReport(
        best=JudgedNeighbour(memory, cosine, comparison, decision),
        around=around,
        is_triggered=is_left,
        is_left_for_later=is_left,
    )


def examine_among(
    statement: NewStatement,
    found: Iterable[NearMemory],
    config: WorkspaceSettings,
    comparer: Comparer,
) -> list[JudgedNeighbour]:
    """Compare a statement with given neighbours, nearest first, by their texts alone.

    Needs no database; the caller applies the decisions of people.
    """
    return _judge(statement, _near(found, config), config, comparer)


def protect_decided(report: GateReport, statement: NewStatement, actor: Actor) -> GateReport:
    """Replace a merge if a person has decided about the memory since the gate compared it.

    The caller has locked the memory. A verdict that keeps a memory does not change its row, so
    events are read.
    """
    best = report.best
    if best is None or report.outcome != "merged" or not best.decision.folds:
        return report
    spared = _protect_trusted(best, statement, actor)
    return replace(report, outcome=spared.decision.outcome, best=spared)


def protect_disputed(report: GateReport) -> GateReport:
    """Replace a merge that would reword a memory in an open conflict by a suggestion.

    The caller has locked the memory. A merge that keeps its wording stays a merge.
    """
    best = report.best
    if best is None or report.outcome != "merged" or not disputes_of([best.memory.id]):
        return report
    reasons = (*best.decision.reasons, "people are asked whether the stored memory holds")
    if best.comparison.relation == "same":
        decision = replace(best.decision, survivor="stored", reasons=reasons)
    elif best.decision.survivor == "stored":
        return report
    else:
        decision = GateDecision("suggested", "stored", reasons, folds=False)
    judged = replace(best, decision=decision)
    return replace(report, outcome=decision.outcome, best=judged)


def preview_decision(
    statement: NewStatement,
    found: Iterable[NearMemory],
    config: WorkspaceSettings,
    comparer: Comparer,
    *,
    actor: Actor,
) -> JudgedNeighbour | None:
    """Return the neighbour that would determine the outcome, and the decision; nearest first.

    Pairs that people keep apart are not considered: a replay reports them separately.
    """
    judged = [
        _protect_trusted(one, statement, actor) if one.decision.outcome == "merged" else one
        for one in _judge(statement, _near(found, config), config, comparer)
    ]
    return min(judged, key=lambda one: _RANK[one.decision.outcome], default=None)


def near_texts(found: Iterable[NearMemory], config: WorkspaceSettings) -> list[str]:
    """Return the texts of the neighbours that a statement is compared with, nearest first."""
    return [memory.content for memory, _ in _near(found, config)]


def estimated(
    found: Iterable[NearMemory], configs: Iterable[WorkspaceSettings]
) -> list[NearMemory]:
    """Return the neighbours whose relation is estimated under any of these settings."""
    every = list(configs)
    return [row for row in found if any(_is_compared(row[1], config) for config in every)]


def _near(found: Iterable[NearMemory], config: WorkspaceSettings) -> list[NearMemory]:
    """Return the neighbours above the threshold, and always the nearest: its relation is shown."""
    rows = list(found)
    return rows[:1] + [row for row in rows[1:] if not row[1] < config.gate_threshold]


def _judge(
    statement: NewStatement,
    near: Iterable[NearMemory],
    config: WorkspaceSettings,
    comparer: Comparer,
) -> list[JudgedNeighbour]:
    """Compare a statement with its near neighbours and decide about each."""
    judged: list[JudgedNeighbour] = []
    for memory, cosine in near:
        comparison = comparer.compare(memory.content, statement.content)
        stored, incoming = comparer.read(memory.content), comparer.read(statement.content)
        better = choose_better_wording(memory.content, statement.content, stored, incoming)
        decision = _decide(
            statement, memory, cosine, comparison, config,
            better="stored" if better == "a" else "incoming",
            chances=(
                comparer.estimate(memory.content, statement.content, cosine)
                if _is_compared(cosine, config)
                else None
            ),
        )  # fmt: skip
        if decision.outcome == "suggested" and comparison.relation == "different":
            decision = _leave_to_people(decision, objection(stored, incoming))
        judged.append(JudgedNeighbour(memory, cosine, comparison, decision))
    return judged


def _decide(
    statement: NewStatement,
    memory: Memory,
    cosine: float,
    comparison: ClaimComparison,
    config: WorkspaceSettings,
    *,
    better: Side,
    chances: Likelihood | None = None,
) -> GateDecision:
    return decide(
        comparison,
        cosine,
        threshold=config.gate_threshold,
        policy=config.gate_policy,
        provenance_stored=memory.provenance,
        provenance_incoming=statement.provenance,
        better=better,
        chances=chances,
    )


def _is_compared(cosine: float, config: WorkspaceSettings) -> bool:
    return config.gate_policy != "off" and cosine >= config.gate_threshold


def _leave_to_people(decision: GateDecision, objection: str) -> GateDecision:
    """Turn a suggestion that no rule could judge into a rejection if there is an objection."""
    if not objection:
        return decision
    return GateDecision("created", "stored", distinct((*decision.reasons, objection)))


def _respect_decisions(
    statement: NewStatement, judged: list[JudgedNeighbour], actor: Actor
) -> list[JudgedNeighbour]:
    """Keep split or rejected pairs apart, and do not reword trusted memories."""
    known = [one for one in judged if one.decision.outcome in _PROBABLY_KNOWN]
    if not known:
        return judged
    apart = kept_apart_from(statement.digest, [one.memory.content_hash for one in known])
    heeded = []
    for one in judged:
        if one in known and one.memory.content_hash in apart:
            decision = GateDecision(
                "created", "stored", ("these two are kept apart since a split or a rejection",)
            )
            heeded.append(replace(one, decision=decision))
        elif one.decision.outcome == "merged":
            heeded.append(_protect_trusted(one, statement, actor))
        else:
            heeded.append(one)
    return heeded


def _protect_trusted(
    one: JudgedNeighbour, statement: NewStatement, actor: Actor
) -> JudgedNeighbour:
    """Allow a merge to change no more than a revision by the same actor could.

    Where the memory is more trusted, or a person wrote or decided about it, an agent's statement is
    only stored as an observation.
    """
    stored = one.memory
    if actor.is_reviewer:
        return one
    if Provenance(statement.provenance).trust < Provenance(stored.provenance).trust:
        reason = f"the stored memory is {stored.provenance} and stays as it is"
    elif why_untrusted(stored, statement.provenance, actor):
        reason = "the stored memory leads sessions and stays as it is"
    elif is_decided_by_person(stored):
        reason = "a person wrote the stored memory or decided about it"
    else:
        return one
    says_more = one.decision.survivor == "incoming" and one.comparison.relation != "same"
    reasons = (*one.decision.reasons, reason)
    outcome: GateOutcome = "suggested" if says_more else "merged"
    return replace(one, decision=GateDecision(outcome, "stored", reasons, folds=False))
