"""Run the redundancy gate at commit: compare the nearest live neighbours claim by claim."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

import numpy as np

from engram.kernel.actors import Actor
from engram.kernel.configuration import WorkspaceSettings
from memories.core.comparing import COMPARED_LATER, Comparer, deferred_comparison
from memories.core.gate import GateOutcome
from memories.services.gate.judging import decide_pair, estimated, judge, judge_among, near_of
from memories.services.gate.neighbours import ELSEWHERE_COSINE, NearMemory, find_neighbours
from memories.services.gate.protection import protect_trusted, respect_decisions
from memories.services.gate.report import (
    PROBABLY_KNOWN,
    GateReport,
    JudgedNeighbour,
    NewStatement,
)
from memories.services.index.tokens import incoming_states, word_states_of

NEIGHBOURS = 5
_RANK: dict[GateOutcome, int] = {"kept_apart": 0, "merged": 1, "suggested": 2, "created": 3}


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
    near = near_of(here, config)
    if not comparer.has_room([memory.content for memory, _ in near], statement.content):
        return _postpone(statement, near[0], around, config)
    # Also of those that the writer may be asked about, by the same statement.
    read = {row[0].id: row[0] for row in estimated(near, [config])}
    read |= {memory.id: memory for memory, cosine in around if cosine >= ELSEWHERE_COSINE}
    if read:
        comparer.states |= incoming_states(statement.content, vectors)
        comparer.states |= word_states_of(read.values(), model)
    judged = respect_decisions(statement, judge(statement, near, config, comparer), actor)
    if not judged:
        return GateReport(around=around)
    best = min(judged, key=lambda one: _RANK[one.decision.outcome])
    return GateReport(
        outcome=best.decision.outcome,
        best=best,
        around=around,
        also=tuple(
            one for one in judged if one is not best and one.decision.outcome in PROBABLY_KNOWN
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
    decision = decide_pair(statement, memory, cosine, comparison, config, better="stored")
    is_left = COMPARED_LATER in decision.reasons
    return GateReport(
        best=JudgedNeighbour(memory, cosine, comparison, decision),
        around=around,
        is_triggered=is_left,
        is_left_for_later=is_left,
    )


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
        protect_trusted(one, statement, actor) if one.decision.outcome == "merged" else one
        for one in judge_among(statement, found, config, comparer)
    ]
    return min(judged, key=lambda one: _RANK[one.decision.outcome], default=None)
