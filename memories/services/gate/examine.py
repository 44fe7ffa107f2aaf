"""The redundancy gate at commit: nearest live neighbours, compared claim by claim."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np

from engram.kernel.actors import Actor
from engram.kernel.configuration import WorkspaceSettings
from memories.core.claims import Comparison
from memories.core.comparing import NOT_HERE, Comparer, left_for_later
from memories.core.gate import Decision, Outcome, Side, better_wording, decide
from memories.core.objections import objection
from memories.core.relations import Relation
from memories.models import Memory, Provenance
from memories.services.disputes import disputes_of
from memories.services.gate.neighbours import Row, find_neighbours
from memories.services.gate.suggestions import apart_from
from memories.services.review.trust import is_persons_word, lacking_trust

NEIGHBOURS = 5
_RANK: dict[Outcome, int] = {"kept_apart": 0, "merged": 1, "suggested": 2, "created": 3}
_PROBABLY_KNOWN = frozenset(["merged", "suggested"])


@dataclass(frozen=True, slots=True)
class NewStatement:
    """What the gate compares with its neighbours."""

    content: str
    digest: str
    scope: str
    project: str
    provenance: str


@dataclass(frozen=True, slots=True)
class JudgedNeighbour:
    """One neighbour beside the statement, and what the gate would do with the two alone."""

    memory: Memory
    similarity: float | None
    comparison: Comparison
    decision: Decision


@dataclass(frozen=True, slots=True)
class GateReport:
    """What the gate saw and decided for one draft."""

    outcome: Outcome = "created"
    best: JudgedNeighbour | None = None
    # All that lies near, of this place and of other scopes, whatever became of it.
    around: tuple[Row, ...] = ()
    # Other neighbours that probably say the same; a person is asked about them.
    also: tuple[JudgedNeighbour, ...] = ()
    is_triggered: bool = False  # some neighbour was near enough to be compared
    is_left_for_later: bool = False  # and this call had no room for it
    # How the statement relates to the neighbours that were compared, by their ids.
    relations: Mapping[UUID, Relation] = field(default_factory=dict)

    @property
    def nearest(self) -> Memory | None:
        """Return the neighbour that decided."""
        return self.best.memory if self.best else None

    @property
    def similarity(self) -> float | None:
        """Return its cosine."""
        return self.best.similarity if self.best else None

    @property
    def comparison(self) -> Comparison | None:
        """Return how the two relate."""
        return self.best.comparison if self.best else None

    @property
    def decision(self) -> Decision | None:
        """Return what was decided about the two."""
        return self.best.decision if self.best else None

    def as_record(self) -> dict[str, Any]:
        """Return what callers see of it."""
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
    """Compare a statement with its neighbours; a contradiction weighs more than a merge.

    `besides` are memories that are not looked at: the statement's own, say. `size` is
    `corpus_size()`, for callers who know it. Where the `comparer` has no room left for all of its
    near neighbours, the statement is compared with none, and the report says so.
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
    statement: NewStatement, nearest: Row, around: tuple[Row, ...], config: WorkspaceSettings
) -> GateReport:
    """Report on a statement that this call compares with nothing."""
    memory, cosine = nearest
    comparison = left_for_later()
    decision = _decide(statement, memory, cosine, comparison, config, better="stored")
    is_left = NOT_HERE in decision.reasons
    return GateReport(
        best=JudgedNeighbour(memory, cosine, comparison, decision),
        around=around,
        is_triggered=is_left,
        is_left_for_later=is_left,
    )


def examine_among(
    statement: NewStatement,
    found: Iterable[Row],
    config: WorkspaceSettings,
    comparer: Comparer,
) -> list[JudgedNeighbour]:
    """Compare a statement with given neighbours, nearest first, by what they say alone.

    Needs no database: what people have decided about the two is for the caller to ask.
    """
    return _judge(statement, _near(found, config), config, comparer)


def protect_decided(report: GateReport, statement: NewStatement, actor: Actor) -> GateReport:
    """Leave a memory as it is that a person has decided about since the gate looked.

    The caller has locked it. A verdict that keeps a memory writes nothing into its row.
    """
    best = report.best
    if best is None or report.outcome != "merged" or not best.decision.folds:
        return report
    spared = _protect_trusted(best, statement, actor)
    return replace(report, outcome=spared.decision.outcome, best=spared)


def protect_disputed(report: GateReport) -> GateReport:
    """Take no side away of which people are asked whether it holds.

    What says the same as a disputed memory, which the caller has locked, is merged and leaves its
    wording; what would reword it otherwise is put to a person.
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
        decision = Decision("suggested", "stored", reasons, folds=False)
    judged = replace(best, decision=decision)
    return replace(report, outcome=decision.outcome, best=judged)


def preview_decision(
    statement: NewStatement,
    found: Iterable[Row],
    config: WorkspaceSettings,
    comparer: Comparer,
    *,
    actor: Actor,
) -> JudgedNeighbour | None:
    """Return the neighbour that would decide among given ones, nearest first, and how.

    Without what people have kept apart since: a replay tells that beside it.
    """
    judged = [
        _protect_trusted(one, statement, actor) if one.decision.outcome == "merged" else one
        for one in _judge(statement, _near(found, config), config, comparer)
    ]
    return min(judged, key=lambda one: _RANK[one.decision.outcome], default=None)


def near_texts(found: Iterable[Row], config: WorkspaceSettings) -> list[str]:
    """Return the texts that a statement is compared with, of neighbours, nearest first."""
    return [memory.content for memory, _ in _near(found, config)]


def _near(found: Iterable[Row], config: WorkspaceSettings) -> list[Row]:
    """Return the neighbours that are near, and the nearest one: its relation is always told."""
    rows = list(found)
    return rows[:1] + [row for row in rows[1:] if not row[1] < config.gate_threshold]


def _judge(
    statement: NewStatement, near: Iterable[Row], config: WorkspaceSettings, comparer: Comparer
) -> list[JudgedNeighbour]:
    """Judge what is near a statement."""
    judged: list[JudgedNeighbour] = []
    for memory, cosine in near:
        comparison = comparer.compare(memory.content, statement.content)
        stored, incoming = comparer.read(memory.content), comparer.read(statement.content)
        better = better_wording(memory.content, statement.content, stored, incoming)
        decision = _decide(
            statement, memory, cosine, comparison, config,
            better="stored" if better == "a" else "incoming",
        )  # fmt: skip
        if decision.outcome == "suggested" and comparison.relation == "different":
            decision = _leave_to_people(decision, objection(stored, incoming))
        judged.append(JudgedNeighbour(memory, cosine, comparison, decision))
    return judged


def _decide(
    statement: NewStatement,
    memory: Memory,
    cosine: float,
    comparison: Comparison,
    config: WorkspaceSettings,
    *,
    better: Side,
) -> Decision:
    return decide(
        comparison,
        cosine,
        threshold=config.gate_threshold,
        policy=config.gate_policy,
        provenance_stored=memory.provenance,
        provenance_incoming=statement.provenance,
        better=better,
    )


def _leave_to_people(decision: Decision, objection: str) -> Decision:
    """Leave a pair that no rule could judge to people only when nothing speaks against it."""
    if not objection:
        return decision
    return Decision("created", "stored", (*decision.reasons, objection))


def _respect_decisions(
    statement: NewStatement, judged: list[JudgedNeighbour], actor: Actor
) -> list[JudgedNeighbour]:
    """Leave apart what was split or rejected, and a trusted memory as it was put."""
    known = [one for one in judged if one.decision.outcome in _PROBABLY_KNOWN]
    if not known:
        return judged
    apart = apart_from(statement.digest, [one.memory.content_hash for one in known])
    heeded = []
    for one in judged:
        if one in known and one.memory.content_hash in apart:
            decision = Decision(
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
    """Change by a merge no more than by a revision: a trusted memory stays, or a person is asked.

    What an agent says beside a more trusted class or a person's word only counts as a witness.
    """
    stored = one.memory
    if actor.is_reviewer:
        return one
    if Provenance(statement.provenance).trust < Provenance(stored.provenance).trust:
        reason = f"the stored memory is {stored.provenance} and stays as it is"
    elif lacking_trust(stored, statement.provenance, actor):
        reason = "the stored memory leads sessions and stays as it is"
    elif is_persons_word(stored):
        reason = "a person wrote the stored memory or decided about it"
    else:
        return one
    says_more = one.decision.survivor == "incoming" and one.comparison.relation != "same"
    reasons = (*one.decision.reasons, reason)
    outcome: Outcome = "suggested" if says_more else "merged"
    return replace(one, decision=Decision(outcome, "stored", reasons, folds=False))
