"""The closed-form ranker alone: a strong reference early on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from predictor.core.checks import ScoreError, check_candidates, check_context, check_session
from predictor.core.linear import Linear, fit_linear
from predictor.core.recipe import is_useful
from predictor.core.types import Candidates, Context, LabelledSession
from predictor.core.weights import COSINE_COLUMN, LINEAR_COLUMNS, PRIOR_MEAN

SIMILARITY_START, PRIOR_START = 0.3, 0.18


class Ridge:
    """Linear in `CANDIDATE_COLUMNS`, cosine and log effectiveness.

    Untrained it ranks as the baseline does, or by the last two where its scores are unknown. The
    baseline's score is no column: its first ten are those that are judged.
    """

    def __init__(self) -> None:
        mean, slopes = np.zeros(LINEAR_COLUMNS), np.zeros(LINEAR_COLUMNS)
        mean[-1] = PRIOR_MEAN
        slopes[COSINE_COLUMN], slopes[-1] = SIMILARITY_START, PRIOR_START
        self._linear = Linear(mean, np.ones(LINEAR_COLUMNS), slopes)
        self._is_trained = False

    def score(self, context: Context, candidates: Candidates) -> NDArray[np.float32]:
        """Return the candidates' scores, (n,); raises as `Scorer.score` does."""
        native = candidates.embeddings.shape[1]
        check_context(context, native)
        check_candidates(candidates, native)
        if not self._is_trained and candidates.baseline is not None:
            return np.asarray(candidates.baseline, dtype=np.float32)
        scores = self._linear.score(context, candidates)
        if not np.isfinite(scores).all():
            raise ScoreError("a score is not finite")
        return np.asarray(scores, dtype=np.float32)

    def fit(self, sessions: Sequence[LabelledSession], *, rng: np.random.Generator) -> None:
        """Fit on the useful judged sessions; ``rng`` is not used."""
        del rng
        for session in sessions:
            check_session(session, session.candidates.embeddings.shape[1])
        useful = [session for session in sessions if is_useful(session)]
        if useful:
            self._linear = fit_linear(useful)
            self._is_trained = True
