"""What other commits wrote while the gate looked: compared once more, before anybody answers.

Commits that run at the same time do not see each other. All writers of a workspace meet on the row
that counts its memories, last in their transactions: who holds it sees everything that was written
before. When more was written than at the gate's look, the new neighbours are compared as well.
Both memories stand by then, so that what would have been merged is put to a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np

from memories.core.gate import Outcome
from memories.models import Memory, Observation
from memories.services import gate
from memories.services import nearest as search
from memories.services.committing import Committed, Run
from memories.services.draft import Draft

MEANWHILE = timedelta(minutes=5)  # what is older was seen by the gate
MOST = 50  # memories of a place that are compared once more, the newest


def look_again(
    run: Run,
    drafts: Sequence[Draft],
    hashes: Sequence[str],
    windows: Sequence[np.ndarray | None],
    results: Sequence[Committed],
    *,
    others: int,
) -> list[Committed]:
    """Compare what a run created with what `others` memories say that were written meanwhile."""
    answers = []
    for draft, digest, vectors, result in zip(drafts, hashes, windows, results, strict=True):
        is_new = result.memory is not None and result.memory.id in run.created
        is_gated = run.is_gated and vectors is not None and draft.supersedes is None
        if is_new and is_gated:
            assert vectors is not None  # noqa: S101
            statement = run.statement_of(draft, digest)
            result = _look(run, statement, vectors, result, others=others)  # noqa: PLW2901
        answers.append(result)
    return answers


def _look(
    run: Run, statement: gate.Statement, vectors: np.ndarray, result: Committed, *, others: int
) -> Committed:
    assert result.memory is not None  # noqa: S101
    found = _written_meanwhile(run, statement, vectors, result, others=others)
    judged = gate.examine_among(statement, found, run.workspace.config, actor=run.actor)
    telling = [one for one in judged if one.decision.outcome != "created"]
    if not telling:
        return result
    run.suggest(result.memory, (one for one in telling if one.decision.outcome != "kept_apart"))
    outcome: Outcome = "suggested"
    if result.outcome == "kept_apart" or any(
        one.decision.outcome == "kept_apart" for one in telling
    ):
        run.kept_apart.add(result.memory.id)
        outcome = "kept_apart"
    if result.outcome != "created":
        return replace(result, outcome=outcome)
    report = replace(result.gate, outcome=outcome, best=telling[0], is_triggered=True)
    noted = report.as_record() | {"triggered": True}
    Observation.objects.filter(memory=result.memory, outcome="created").update(
        outcome=outcome, gate=noted
    )
    return replace(result, outcome=outcome, gate=report)


def _written_meanwhile(
    run: Run, statement: gate.Statement, vectors: np.ndarray, result: Committed, *, others: int
) -> list[tuple[Memory, float]]:
    """Return the nearest memories of the same place that the gate cannot have seen."""
    seen = {row[0].id for row in result.gate.around} | run.created
    place = Memory.objects.recallable(run.now).filter(
        scope=statement.scope, project=statement.project, created_at__gte=run.now - MEANWHILE
    )
    newest = list(place.exclude(pk__in=seen).order_by("-created_at", "-id")[: min(others, MOST)])
    if not newest:
        return []
    memories = {memory.id: memory for memory in newest}
    near = search.nearest_among(
        Memory.objects.filter(pk__in=memories), vectors[0], run.model, gate.NEIGHBOURS
    )
    return [(memories[memory_id], cosine) for memory_id, cosine in near.items()]
