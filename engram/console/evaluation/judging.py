"""Evaluate the judge of sessions: `--judge SESSIONS`.

A row is a session's context and transcript, and memories that it was offered, each with how
relevant a person found it: 1, .5 or 0. All memories of the file are committed to one workspace, as
the rarity of words is counted there; then each session is judged as the product does.

`auc` is the share of pairs of one session, of a memory with a relevance of .5 or more and one with
0, whose order the judge has right, ties half, averaged over sessions; `over_cosine` is what that is
above the better of two plain cosines, to the context and to the nearest piece of the transcript.
`sure` is the share of sessions that the judge is confident enough about to be learned from.
`contradicted` of the predictions is empty: comparing the claims of memories and transcripts found
none of 17 contradictions of the development file, and one that was none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np
from pydantic import Field

from engram.console.evaluation.lines import InputRow, read_rows, refuse_repeated_ids
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.console.scratch import commit_rows, scratch_workspace
from engram.kernel.embedding import embed, embed_windows
from engram.kernel.models import Workspace
from memories.core.metrics import bootstrap, bootstrap_difference
from memories.models import Session
from memories.services.commit.draft import Draft
from predictor.core.judging import JudgeScores
from predictor.core.labels import MIN_CONFIDENCE
from predictor.core.talk import read_talk
from predictor.services.judging.offline import judge_offline
from predictor.services.judging.pool import JudgingPool

NOW: Final = datetime(2025, 1, 1, tzinfo=UTC)
RELEVANT: Final = 0.5


class NoteRow(InputRow):
    """A memory that the session was offered, with its relevance."""

    text: str = Field(min_length=1)
    relevance: float = Field(ge=0, le=1)


class SessionRow(InputRow):
    """A session with labels."""

    id: str
    transcript: str = Field(min_length=1)
    context: str = ""
    memories: list[NoteRow] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class JudgedSession:
    """A session with the judge's scores and two plain cosines, in the order of its memories."""

    row: SessionRow
    scores: JudgeScores
    to_context: Sequence[float]
    to_pieces: Sequence[float]

    def auc(self, scores: Sequence[float]) -> float | None:
        """Return how often scores order a relevant memory and one of relevance 0 right."""
        pairs = list(zip(scores, (one.relevance for one in self.row.memories), strict=True))
        above = np.array([score for score, relevance in pairs if relevance >= RELEVANT])
        below = np.array([score for score, relevance in pairs if relevance == 0])
        if not above.size or not below.size:
            return None
        wins = above[:, None] > below
        return float((wins + 0.5 * (above[:, None] == below)).mean())


def read(path: Path) -> list[SessionRow]:
    """Read the sessions."""
    rows = read_rows(path, SessionRow)
    refuse_repeated_ids(path, [row.id for row in rows])
    return rows


def run(path: Path, *, seed: int, advance: Callable[[int], object]) -> ModeResult:
    """Judge every session without a language model."""
    rows, judged = read(path), []
    with scratch_workspace() as workspace:
        ids = _commit(workspace, rows)
        for row, row_ids in zip(rows, ids, strict=True):
            judged.append(_judge(workspace, row, row_ids))
            advance(1)
    predictions = [_prediction(one) for one in judged]
    return ModeResult("judge", _figures(judged, seed), predictions, _details(judged))


def _commit(workspace: Workspace, rows: Sequence[SessionRow]) -> list[list[UUID | None]]:
    """Commit the memories of all sessions; return their ids, None for refused ones."""
    drafts = [Draft(content=note.text) for row in rows for note in row.memories]
    done = iter(commit_rows(workspace, drafts, now=NOW, is_gated=False, is_detected=False))
    return [
        [None if one is None or one.memory is None else one.memory.id for one in own]
        for own in ([next(done) for _ in row.memories] for row in rows)
    ]


def _judge(workspace: Workspace, row: SessionRow, ids: Sequence[UUID | None]) -> JudgedSession:
    contents = [note.text for note in row.memories]
    session = Session(workspace=workspace, transcript=row.transcript, context=row.context)
    # What a commit refuses, as a credential, has no id and no vectors: it is embedded here.
    placed = [own or UUID(int=index) for index, own in enumerate(ids)]
    pool = JudgingPool(session, placed, contents, reworded=frozenset())
    windows = [np.asarray(one) for one in embed_windows(contents)]
    pieces = embed(read_talk(row.transcript, contents).pieces or [row.transcript[:300]])
    context = embed([row.context or row.transcript[:300]])[0]
    return JudgedSession(
        row,
        judge_offline(workspace, pool).scores,
        to_context=[float((one @ context).max()) for one in windows],
        to_pieces=[float((one @ pieces.T).max()) for one in windows],
    )


def _prediction(one: JudgedSession) -> dict[str, Any]:
    return {
        "id": one.row.id,
        "relevance": list(one.scores.relevance),
        "confidence": one.scores.confidence,
        "contradicted": [],  # neither judge tells
    }


def _figures(judged: Sequence[JudgedSession], seed: int) -> dict[str, Figure]:
    rng = np.random.default_rng(seed)
    errors = [
        abs(said - note.relevance)
        for one in judged
        for said, note in zip(one.scores.relevance, one.row.memories, strict=True)
    ]
    figures = {}
    own = _aucs(judged, lambda one: one.scores.relevance)
    if own:
        cosines = max(_cosines(judged).values(), key=lambda values: float(np.mean(values)))
        figures["auc"] = Figure(bootstrap(own, rng=rng))
        figures["over_cosine"] = Figure(bootstrap_difference(own, cosines, rng=rng))
    figures["error"] = Figure(bootstrap(errors, rng=rng), is_lower_better=True)
    sure = [float(one.scores.confidence >= MIN_CONFIDENCE) for one in judged]
    return figures | {"sure": Figure(bootstrap(sure, rng=rng))}


def _aucs(
    judged: Sequence[JudgedSession], scores: Callable[[JudgedSession], Sequence[float]]
) -> list[float]:
    found = (one.auc(scores(one)) for one in judged)
    return [value for value in found if value is not None]


def _cosines(judged: Sequence[JudgedSession]) -> dict[str, list[float]]:
    return {
        "cosine to the context": _aucs(judged, lambda one: one.to_context),
        "largest cosine to the transcript": _aucs(judged, lambda one: one.to_pieces),
    }


def _details(judged: Sequence[JudgedSession]) -> dict[str, Any]:
    is_sure = [one for one in judged if one.scores.confidence >= MIN_CONFIDENCE]
    unsure = [one for one in judged if one.scores.confidence < MIN_CONFIDENCE]
    found = {
        **_cosines(judged),
        "judge where it is sure": _aucs(is_sure, lambda one: one.scores.relevance),
        "judge where it is not": _aucs(unsure, lambda one: one.scores.relevance),
    }
    return {
        "sessions": len(judged),
        "memories": sum(len(one.row.memories) for one in judged),
        **{f"auc of {name}": round(float(np.mean(own)), 3) for name, own in found.items() if own},
    }
