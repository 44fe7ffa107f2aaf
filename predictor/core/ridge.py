"""Closed-form ranker: ridge regression on a candidate's features; a strong reference early on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from predictor.core.basis import means_and_scales
from predictor.core.checks import ScoreError, check_candidates, check_context, check_session
from predictor.core.recipe import is_useful
from predictor.core.types import CANDIDATE_COLUMNS, Candidates, Context, LabelledSession
from predictor.core.weights import PRIOR_MEAN, Floats

PENALTY = 30.0
SIMILARITY_START, PRIOR_START = 0.3, 0.18


class Ridge:
    """Linear in `CANDIDATE_COLUMNS`, cosine and log effectiveness.

    Untrained it ranks as the baseline does, or by the last two where its scores are unknown. The
    baseline's score is no column: its first ten are those that are judged.
    """

    def __init__(self) -> None:
        size = len(CANDIDATE_COLUMNS) + 2
        self._mean: Floats = np.zeros(size)
        self._scale: Floats = np.zeros(size)
        self._mean[-1] = PRIOR_MEAN
        self._scale[-2:] = 1
        self._slopes: Floats = np.zeros(size)
        self._slopes[-2:] = SIMILARITY_START, PRIOR_START
        self._is_trained = False

    def score(self, context: Context, candidates: Candidates) -> NDArray[np.float32]:
        """Return the candidates' scores, (n,); raises as `Scorer.score` does."""
        native = candidates.embeddings.shape[1]
        check_context(context, native)
        check_candidates(candidates, native)
        if not self._is_trained and candidates.baseline is not None:
            return np.asarray(candidates.baseline, dtype=np.float32)
        scores = (_columns(context, candidates) - self._mean) * self._scale @ self._slopes
        if not np.isfinite(scores).all():
            raise ScoreError("a score is not finite")
        return np.asarray(scores, dtype=np.float32)

    def fit(self, sessions: Sequence[LabelledSession], *, rng: np.random.Generator) -> None:
        """Fit on the useful judged sessions; ``rng`` is not used."""
        del rng
        for session in sessions:
            check_session(session, session.candidates.embeddings.shape[1])
        useful = [session for session in sessions if is_useful(session)]
        if not useful:
            return
        rows = [_columns(session.context, session.candidates) for session in useful]
        self._mean, self._scale = means_and_scales(np.concatenate(rows))
        size = len(self._mean)
        gram, moment = PENALTY * np.eye(size), np.zeros(size)
        for session, columns in zip(useful, rows, strict=True):
            x = (columns - self._mean) * self._scale
            shares = session.shares
            x = x - np.average(x, axis=0, weights=shares)
            errors = session.labels - np.average(session.labels, weights=shares)
            weighted = x * (session.confidence * shares)[:, None]
            gram += weighted.T @ x
            moment += weighted.T @ errors
        self._slopes = np.linalg.solve(gram, moment)
        self._is_trained = True


def _columns(context: Context, candidates: Candidates) -> Floats:
    """Return signals, cosine (0 without both embeddings) and log effectiveness, (n, 7)."""
    cosine = np.zeros(len(candidates))
    embedded = candidates.is_embedded
    if context.embedding is not None and embedded.any():
        cosine[embedded] = candidates.embeddings[embedded] @ context.embedding
    signals = candidates.signals[:, CANDIDATE_COLUMNS]
    return np.column_stack([signals, cosine, candidates.log_effectiveness])
