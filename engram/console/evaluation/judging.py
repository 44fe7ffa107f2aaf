"""Evaluate the judge of sessions: `--judge SESSIONS [--model]`.

A row is a session's context and transcript, and memories that it was offered, each with how
relevant a person found it: 1, .5 or 0. All memories of the file are committed to one workspace, as
the rarity of words is counted there; then each session is judged as the product does.

`auc` is the share of pairs of one session, of a memory with a relevance of .5 or more and one with
0, whose order the judge has right, ties half, averaged over sessions; `over_cosine` is what that is
above the better of two plain cosines, to the context and to the nearest piece of the transcript.
`sure` is the share of sessions that the judge is confident enough about to be learned from.
Each session is judged in two or four orders of its memories, to measure how far ratings go by the
place and by the length of a memory (`judge_bias.py`). A language model judges only with `--model`:
its relevance is then the mean of an order and its reverse, null where both are far apart.
`contradicted` are the memories, by number from 0, that a claim of the transcript contradicts. None
of 17 contradictions of the development file is said so plainly that rules tell, and none is called
so that is not (`tests/predictor/contradicting_talks.py` has plain ones).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np

from engram.console.evaluation.judge_bias import (
    ORDERS,
    balanced_orders,
)
from engram.console.evaluation.judge_figures import (
    JudgedSession,
    SessionRow,
    details_of,
    figures_of,
    of_model,
)
from engram.console.evaluation.judge_readings import (
    NOW,
    ModelReader,
    Reader,
    check_answered,
    rated_session,
    read_offline,
)
from engram.console.evaluation.lines import read_rows, refuse_repeated_ids
from engram.console.evaluation.model_cost import require_model
from engram.console.evaluation.outcome import ModeResult
from engram.console.scratch import commit_rows, scratch_workspace
from engram.kernel.embedding import embed, embed_windows
from engram.kernel.models import Workspace
from memories.models import Session
from memories.services.commit.draft import Draft
from predictor.core.talk import read_talk
from predictor.services.judging.contradicted import places_contradicting
from predictor.services.judging.pool import JudgingPool

MOST_USD: Final = 1000.0  # of a day, for a run that was asked for


def read(path: Path) -> list[SessionRow]:
    """Read the sessions."""
    rows = read_rows(path, SessionRow)
    refuse_repeated_ids(path, [row.id for row in rows])
    return rows


def run(
    path: Path,
    *,
    seed: int,
    advance: Callable[[int], object],
    with_model: bool = False,
    orders: int = max(ORDERS),
) -> ModeResult:
    """Judge every session without a language model, or with the configured one."""
    if with_model:
        require_model()
    rows, judged = read(path), []
    model = ModelReader() if with_model else None
    rng = np.random.default_rng(seed)
    with scratch_workspace(narrative_daily_usd=MOST_USD) as workspace:
        ids = _commit(workspace, rows)
        for row, row_ids in zip(rows, ids, strict=True):
            drawn = balanced_orders(len(row.memories), orders, rng)
            if found := _judge(workspace, row, row_ids, drawn, model or read_offline):
                judged.append(found)
            advance(1)
    if model:
        check_answered(model, len(judged))
    predictions = [_prediction(one) for one in judged]
    details = details_of(judged, seed) | (of_model(judged) | model.details if model else {})
    mode = "judge with a model" if model else "judge"
    return ModeResult(mode, figures_of(judged, seed), predictions, details)


def _commit(workspace: Workspace, rows: Sequence[SessionRow]) -> list[list[UUID | None]]:
    """Commit the memories of all sessions; return their ids, None for refused ones."""
    drafts = [Draft(content=note.text) for row in rows for note in row.memories]
    done = iter(commit_rows(workspace, drafts, now=NOW, is_gated=False, is_detected=False))
    return [
        [None if one is None or one.memory is None else one.memory.id for one in own]
        for own in ([next(done) for _ in row.memories] for row in rows)
    ]


def _judge(
    workspace: Workspace,
    row: SessionRow,
    ids: Sequence[UUID | None],
    orders: Sequence[Sequence[int]],
    reader: Reader,
) -> JudgedSession | None:
    contents = [note.text for note in row.memories]
    session = Session(workspace=workspace, transcript=row.transcript, context=row.context)
    # What a commit refuses, as a credential, has no id and no vectors: it is embedded here.
    placed = [own or UUID(int=index) for index, own in enumerate(ids)]
    pool = JudgingPool(session, placed, contents, reworded=frozenset())
    found = reader(workspace, pool, orders)
    if found is None:
        return None
    scores, by_order = found
    rated = rated_session(contents, [one.relevance for one in row.memories], orders, by_order)
    windows = [np.asarray(one) for one in embed_windows(contents)]
    pieces = embed(read_talk(row.transcript, contents).pieces or [row.transcript[:300]])
    context = embed([row.context or row.transcript[:300]])[0]
    return JudgedSession(
        row,
        scores,
        first=[float(value) for value in rated.ratings[0]],
        rated=rated,
        to_context=[float((one @ context).max()) for one in windows],
        to_pieces=[float((one @ pieces.T).max()) for one in windows],
        contradicted=[placed.index(i) for i in places_contradicting(pool)],
    )


def _prediction(one: JudgedSession) -> dict[str, Any]:
    return {
        "id": one.row.id,
        "relevance": list(one.scores.relevance),
        "confidence": one.scores.confidence,
        "contradicted": list(one.contradicted),
    }
