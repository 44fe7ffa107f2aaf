"""Boosted trees as a ranker: what a user would take instead of the learned model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engram.console.evaluation.simulation.curves import Known
from predictor.core.types import Candidates, Context, LabelledSession

DIRECTIONS = 12
GRADES = 4  # LambdaMART learns from whole grades: labels of 0 to 1 in quarters
BOOSTING = {"learning_rate": 0.06, "min_child_samples": 20, "num_leaves": 15, "reg_lambda": 1.0}


def has_lambdamart() -> bool:
    """Return whether LightGBM is installed and finds the OpenMP library of the system."""
    try:
        import lightgbm  # noqa: F401
    except (ImportError, OSError):
        return False
    return True


class Trees:
    """Gradient boosting on labels: signals, cosine, effectiveness, baseline, project, injected.

    With ``content`` also the first principal coordinates of memory and context. Untrained it is the
    baseline. Its settings were chosen in worlds for tuning.
    """

    def __init__(self, known: Known, *, content: bool) -> None:
        self._mean = known.embeddings.mean(axis=0)
        self._directions = np.zeros((len(self._mean), 0))
        if content:
            centred = known.embeddings - self._mean
            _, vectors = np.linalg.eigh(centred.T @ centred)
            self._directions = vectors[:, ::-1][:, :DIRECTIONS]
        self._model: object | None = None

    def fit(self, sessions: Sequence[LabelledSession], *, rng: np.random.Generator) -> None:
        """Fit anew on all sessions."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        rows = [self._columns(s.context, s.candidates) for s in sessions]
        self._model = HistGradientBoostingRegressor(
            max_iter=150,
            learning_rate=0.06,
            max_leaf_nodes=15,
            min_samples_leaf=20,
            l2_regularization=1.0,
            random_state=int(rng.integers(2**31)),
        ).fit(
            np.vstack(rows),
            np.concatenate([s.labels for s in sessions]),
            sample_weight=np.concatenate([np.full(len(s.labels), s.confidence) for s in sessions]),
        )

    def score(self, context: Context, candidates: Candidates) -> NDArray[np.floating]:
        """Return what the trees expect of each candidate."""
        given = candidates.baseline
        if self._model is None:
            return candidates.log_effectiveness if given is None else given
        return self._model.predict(self._columns(context, candidates))  # type: ignore[attr-defined]

    def _columns(self, context: Context, candidates: Candidates) -> NDArray[np.floating]:
        n, embedding = len(candidates), np.asarray(context.embedding)
        injected = candidates.is_injected if candidates.is_injected is not None else np.zeros(n)
        of_memory = (candidates.embeddings - self._mean) @ self._directions
        of_context = (embedding - self._mean) @ self._directions
        project = -1 if context.project_slot is None else context.project_slot
        return np.column_stack(
            [
                candidates.signals,
                candidates.embeddings @ embedding,
                candidates.log_effectiveness,
                np.zeros(n) if candidates.baseline is None else candidates.baseline,
                np.full(n, project),
                injected,
                of_memory,
                np.repeat(of_context[None], n, axis=0),
            ]
        )


class LambdaMart(Trees):
    """The same trees, boosted for nDCG over the sessions' lists (LambdaMART, Burges 2010)."""

    def fit(self, sessions: Sequence[LabelledSession], *, rng: np.random.Generator) -> None:
        """Fit anew on all sessions."""
        from lightgbm import LGBMRanker

        self._model = LGBMRanker(
            objective="lambdarank",
            n_estimators=150,
            n_jobs=1,
            random_state=int(rng.integers(2**31)),
            verbose=-1,
            **BOOSTING,
        ).fit(
            np.vstack([self._columns(s.context, s.candidates) for s in sessions]),
            np.rint(GRADES * np.clip(np.concatenate([s.labels for s in sessions]), 0, 1)),
            group=[len(s.labels) for s in sessions],
            sample_weight=np.concatenate([s.confidence * s.shares for s in sessions]),
        )
