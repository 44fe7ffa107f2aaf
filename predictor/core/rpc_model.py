"""The methods of `predictor_rpc` that need no database: one model, scored with and trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictor.core.features import WidthError
from predictor.core.rpc_params import (
    MAX_EPOCHS,
    NATIVE,
    SHARED,
    check_names,
    described,
    identifiers,
    labelled,
    whole,
    wrong,
)
from predictor.core.scorer import ScoreError, Scorer, TrainingReport
from predictor.core.weights import DIMENSION


class RpcModel:
    """A model in memory; a training that fails leaves it as it was.

    `version` counts the trainings, and what was read at the start.
    """

    def __init__(self, scorer: Scorer | None = None, *, seed: int = 0):
        self.scorer = scorer
        self.version = 0 if scorer is None else 1
        self.training_sessions = 0
        self.last_trained: datetime | None = None
        self.seed = seed
        self._blank: Scorer | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it scores with anything learned."""
        return self.scorer is not None and self.scorer.is_trained

    def score(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Score candidates; before any training by cosine and effectiveness."""
        check_names(params, SHARED)
        asked = described(params, width=self._width)
        ids = identifiers(params, len(asked.candidates))
        scorer = self.scorer or self._untrained(asked.candidates.embeddings.shape[1])
        try:
            scores = scorer.score(asked.context, asked.candidates)
        except (WidthError, ScoreError) as error:
            raise wrong("params", str(error)) from None
        told = [{"id": i, "score": float(s)} for i, s in zip(ids, scores, strict=True)]
        return {"scores": told, "model_version": self.version, "model_ready": self.is_ready}

    def train(self, params: Mapping[str, Any], *, clock: Callable[[], datetime]) -> dict[str, Any]:
        """Learn from judged sessions, on a copy that takes the model's place when it is done."""
        check_names(params, frozenset({"sessions", "epochs"}))
        sent = params.get("sessions")
        if not isinstance(sent, list) or not sent:
            raise wrong("sessions", "must be a list of at least one session")
        epochs = whole(params, "epochs", low=1, high=MAX_EPOCHS)
        sessions = []
        width = self._width
        for position, one in enumerate(sent):
            session, read = labelled(one, width=width, path=f"sessions[{position}]")
            sessions.append(session)
            width = width or read.candidates.embeddings.shape[1]
        rng = np.random.default_rng([self.seed, self.version])
        scorer = self._or_initial(width or NATIVE).copy()
        try:
            report = scorer.fit(sessions, rng=rng, epochs=epochs)
        except (WidthError, ScoreError) as error:
            raise wrong("sessions", str(error)) from None
        self.learned(scorer, report, clock())
        return told(report)

    def learned(self, scorer: Scorer, report: TrainingReport, now: datetime) -> None:
        """Serve what a training made, unless it found nothing to learn from."""
        if report.samples_used:
            self.scorer = scorer
            self.version += 1
            self.training_sessions += report.samples_used
            self.last_trained = now

    def status(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Tell what the model is."""
        check_names(params, frozenset())
        return {
            "trained": self.is_ready,
            "training_sessions": self.training_sessions,
            "model_version": self.version,
            "last_trained": self.last_trained and self.last_trained.isoformat(),
            "parameters": self._or_initial(NATIVE).parameter_count,
        }

    def to_bytes(self) -> bytes:
        """Return the checkpoint."""
        return self._or_initial(NATIVE).to_bytes()

    @property
    def _width(self) -> int | None:
        return None if self.scorer is None else self.scorer.embedding_width

    def _untrained(self, width: int) -> Scorer:
        """Return a model that knows no memory: its directions are random, not the frame's own.

        So a candidate's score does not depend on which others it is sent with.
        """
        if self._blank is None or self._blank.embedding_width != width:
            rows = np.random.default_rng(self.seed).standard_normal((4 * DIMENSION, width))
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            self._blank = _initial(rows.astype(np.float32), self.seed)
        return self._blank

    def _or_initial(self, width: int) -> Scorer:
        return self.scorer or _initial(np.empty((0, width), dtype=np.float32), self.seed)


def told(report: TrainingReport) -> dict[str, Any]:
    """Return a training's report as frames tell it."""
    return {
        "loss": report.loss,
        "step": report.steps,
        "samples_used": report.samples_used,
        "samples_skipped": report.samples_skipped,
        "duration_ms": round(report.duration_seconds * 1000),
    }


def _initial(embeddings: NDArray[np.float32], seed: int) -> Scorer:
    return Scorer.initial(None, embeddings, rng=np.random.default_rng(seed))
