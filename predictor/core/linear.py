"""Closed-form linear ranking: ridge regression of the labels on what each candidate shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from predictor.core.basis import means_and_scales
from predictor.core.forward import SIGNAL_REACH
from predictor.core.types import CANDIDATE_COLUMNS, Candidates, Context, LabelledSession
from predictor.core.weights import LINEAR_COLUMNS, Floats

PENALTY = 30.0


@dataclass(frozen=True, slots=True)
class Linear:
    """Scores are `standardise` (columns) · slopes; all three are (7,)."""

    mean: Floats
    scale: Floats  # one over the deviation; 0 for a constant column
    slopes: Floats

    def score(self, context: Context, candidates: Candidates) -> Floats:
        """Return the scores, (n,); inputs are checked by the caller."""
        return np.asarray(
            standardise(columns(context, candidates), self.mean, self.scale) @ self.slopes
        )


def columns(context: Context, candidates: Candidates) -> Floats:
    """Return signals, cosine (0 without both embeddings) and log effectiveness, (n, 7)."""
    cosine = np.zeros(len(candidates))
    embedded = candidates.is_embedded
    if context.embedding is not None and embedded.any():
        cosine[embedded] = candidates.embeddings[embedded] @ context.embedding
    signals = candidates.signals[:, CANDIDATE_COLUMNS]
    return np.column_stack([signals, cosine, candidates.log_effectiveness])


def standardise(columns: Floats, mean: Floats, scale: Floats) -> Floats:
    """Return columns less their means in deviations, cut at `SIGNAL_REACH`, of the same shape.

    Values outside the training data are not extrapolated, as in `forward.signals_of`.
    """
    return np.clip((columns - mean) * scale, -SIGNAL_REACH, SIGNAL_REACH)


def fit_linear(sessions: Sequence[LabelledSession]) -> Linear:
    """Fit labels by columns of deviation 1, both centred in each session.

    Candidates count by their shares, sessions by their confidence; at least one session.
    """
    rows = [columns(session.context, session.candidates) for session in sessions]
    mean, scale = means_and_scales(np.concatenate(rows))
    gram, moment = PENALTY * np.eye(LINEAR_COLUMNS), np.zeros(LINEAR_COLUMNS)
    for session, own in zip(sessions, rows, strict=True):
        shares = session.shares
        x = standardise(own, mean, scale)
        x = x - np.average(x, axis=0, weights=shares)
        errors = session.labels - np.average(session.labels, weights=shares)
        weighted = x * (session.confidence * shares)[:, None]
        gram += weighted.T @ x
        moment += weighted.T @ errors
    return Linear(mean, scale, np.linalg.solve(gram, moment))
