"""Methods of `predictor_rpc` that need no database: score with one model and train it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictor.core.features import WidthError
from predictor.core.recipe import is_useful
from predictor.core.rpc_params import (
    MAX_NUMBERS,
    NATIVE,
    LabelledParams,
    ScoreParams,
    TrainParams,
)
from predictor.core.rpc_values import Params, wrong
from predictor.core.scorer import ScoreError, Scorer, TrainingReport
from predictor.core.types import LabelledSession
from predictor.core.weights import DIMENSION

REMEMBERED = 1_000  # sent sessions kept for later trainings, the newest
NOTHING = TrainingReport(0.0, 0, 0, 0, 0.0, 0.0)


class RpcModel:
    """A model in memory; a failed training does not change it.

    `version` counts the trainings, plus one for a model that was loaded at the start.
    """

    def __init__(self, scorer: Scorer | None = None, *, seed: int = 0):
        self.scorer = self._start = scorer
        self.version = 0 if scorer is None else 1
        self.training_sessions = 0
        self.last_trained: datetime | None = None
        self.seed = seed
        self._blank: Scorer | None = None
        self._sessions: dict[bytes, LabelledSession] = {}  # training data, by digest

    @property
    def is_ready(self) -> bool:
        """Return whether the model is trained."""
        return self.scorer is not None and self.scorer.is_trained

    def score(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Score candidates; before any training by cosine and effectiveness."""
        sent = ScoreParams.read(params, width=self._width)
        candidates = sent.candidates
        scorer = self.scorer or self._new_scorer(candidates.embeddings.shape[1])
        try:
            scores = scorer.score(sent.context, candidates)
        except (WidthError, ScoreError) as error:
            raise wrong("params", str(error)) from None
        by_id = zip(sent.candidate_ids, scores, strict=True)
        rows = [{"id": one, "score": float(score)} for one, score in by_id]
        return {"scores": rows, "model_version": self.version, "model_ready": self.is_ready}

    def train(self, params: Mapping[str, Any], *, clock: Callable[[], datetime]) -> dict[str, Any]:
        """Train on these judged sessions and those sent before.

        Every training starts from the initial model with all distinct sessions: continuing from the
        trained one with a few more is measurably worse.
        """
        frame = TrainParams.read(params)
        sent = frame.sessions
        useful: dict[bytes, LabelledSession] = {}
        used, size, width = 0, 0, self._width
        for position, one in enumerate(sent):
            session = LabelledParams.read(one, path=f"sessions[{position}].", width=width).session
            width = width or session.candidates.embeddings.shape[1]
            size += session.candidates.embeddings.size
            if size > MAX_NUMBERS:
                raise wrong(f"sessions[{position}]", f"all embeddings exceed {MAX_NUMBERS} numbers")
            if is_useful(session):
                used += 1
                useful[_digest(session)] = session
        known = {i: old for i, old in self._sessions.items() if i not in useful} | useful
        known = dict(list(known.items())[-max(REMEMBERED, len(useful)) :])
        report = self._fit(list(known.values()), frame.epochs, width or NATIVE) if used else NOTHING
        if used:
            self._sessions = known
            self.training_sessions = len(known)
            self.last_trained = clock()
        return report_fields(report) | {"samples_used": used, "samples_skipped": len(sent) - used}

    def _fit(
        self, sessions: Sequence[LabelledSession], epochs: int | None, width: int
    ) -> TrainingReport:
        scorer = (self._start or _initial(np.empty((0, width), dtype=np.float32), self.seed)).copy()
        try:
            report = scorer.fit(sessions, rng=np.random.default_rng(self.seed), epochs=epochs)
        except (WidthError, ScoreError) as error:
            raise wrong("sessions", str(error)) from None
        self.scorer = scorer
        self.version += 1
        return report

    def adopt(self, scorer: Scorer, sessions: int, now: datetime) -> None:
        """Replace the model by one that was trained elsewhere, on so many sessions."""
        self.scorer = self._start = scorer
        self._sessions = {}
        self.version += 1
        self.training_sessions = sessions
        self.last_trained = now

    def status(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the model's version, size and training state."""
        Params.read(params)
        return {
            "trained": self.is_ready,
            "training_sessions": self.training_sessions,
            "model_version": self.version,
            "last_trained": self.last_trained and self.last_trained.isoformat(),
            "parameters": self._or_initial(NATIVE).parameter_count,
        }

    def to_bytes(self) -> bytes:
        """Return the checkpoint bytes of the model."""
        return self._or_initial(NATIVE).to_bytes()

    @property
    def _width(self) -> int | None:
        return None if self.scorer is None else self.scorer.embedding_width

    def _new_scorer(self, width: int) -> Scorer:
        """Return an untrained model with random directions.

        They do not come from the frame, so that a score does not depend on the other candidates.
        """
        if self._blank is None or self._blank.embedding_width != width:
            rows = np.random.default_rng(self.seed).standard_normal((4 * DIMENSION, width))
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            self._blank = _initial(rows.astype(np.float32), self.seed)
        return self._blank

    def _or_initial(self, width: int) -> Scorer:
        return self.scorer or _initial(np.empty((0, width), dtype=np.float32), self.seed)


def report_fields(report: TrainingReport) -> dict[str, Any]:
    """Return a training's report as fields of an answer."""
    return {
        "loss": report.loss,
        "step": report.steps,
        "samples_used": report.samples_used,
        "samples_skipped": report.samples_skipped,
        "duration_ms": round(report.duration_seconds * 1000),
    }


def _digest(session: LabelledSession) -> bytes:
    """Return a hash of all fields of a session."""
    context, candidates = session.context, session.candidates
    digest = hashlib.blake2b(digest_size=16)
    clock = (context.hour, context.weekday, context.month, context.gap_hours)
    digest.update(repr((context.project_slot, clock, session.confidence)).encode())
    for array in (
        context.embedding,
        candidates.embeddings,
        candidates.signals,
        candidates.log_effectiveness,
        candidates.is_injected,
        session.labels,
        *candidates.token_buckets,
    ):
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.digest()


def _initial(embeddings: NDArray[np.float32], seed: int) -> Scorer:
    return Scorer.initial(None, embeddings, rng=np.random.default_rng(seed))
