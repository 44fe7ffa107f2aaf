"""Tell by the learned scores how likely a memory is of use in a session.

    probability = 1 / (1 + exp(-(intercept + slope · (score - mean score of the session))))

The model is trained by a softmax within sessions, so a score says nothing by itself: what counts is
how far it lies above those of the session's other candidates. Intercept and slope are a logistic
regression on sessions that were judged after they had been scored, so that no model had learned
from them. The regression is penalised towards a slope of 0, by as much as `PRIOR` observations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.calibration import RELEVANT

MIN_SESSIONS: Final = 10
MOST_SESSIONS: Final = 40  # the newest
PRIOR: Final = 1.0
STEPS: Final = 25  # of Newton's method, which converges in less than ten
LARGEST: Final = 30.0  # of a logit

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoredSession:
    """The scores (n,) of a session's judged memories, centred on all its candidates, and what
    the judge said of their relevance, (n,) in [0, 1].
    """

    centred: Floats
    relevance: Floats


@dataclass(frozen=True, slots=True)
class LearnedRelevance:
    """The fitted regression, and on how many sessions."""

    intercept: float
    slope: float
    sessions: int

    def of(self, scores: Sequence[float]) -> list[float]:
        """Return the probabilities of all candidates of a session, from their scores."""
        own = centre(scores)
        logits = np.clip(self.intercept + self.slope * own, -LARGEST, LARGEST)
        found: list[float] = (1 / (1 + np.exp(-logits))).tolist()
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON."""
        return {"intercept": self.intercept, "slope": self.slope, "sessions": self.sessions}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> LearnedRelevance | None:
        """Return the stored regression; None where there is none."""
        return cls(**stored) if stored else None


def centre(scores: Sequence[float]) -> Floats:
    """Return scores (n,) less their mean."""
    own = np.asarray(scores, dtype=np.float64)
    return own - own.mean() if own.size else own


def fit(sessions: Sequence[ScoredSession]) -> LearnedRelevance | None:
    """Fit the regression; None with too few sessions, or where higher scores say no more.

    Parameters
    ----------
    sessions : newest first; at most `MOST_SESSIONS` are used, those with judged memories.
    """
    used = [one for one in sessions if one.centred.size][:MOST_SESSIONS]
    if len(used) < MIN_SESSIONS:
        return None
    scores = np.concatenate([one.centred for one in used])
    is_relevant = np.concatenate([one.relevance for one in used]) >= RELEVANT
    if is_relevant.all() or not is_relevant.any():
        return None
    weights = _regress(scores, is_relevant.astype(np.float64))
    if weights[1] <= 0:
        return None
    return LearnedRelevance(float(weights[0]), float(weights[1]), len(used))


def _regress(scores: Floats, labels: Floats) -> Floats:
    """Return intercept and slope, (2,), by Newton's method with a penalty on the slope."""
    spread = max(float(scores.std()), 1e-6)
    rows = np.column_stack([np.ones_like(scores), scores / spread])
    penalty = np.diag([1e-6, PRIOR])
    weights = np.zeros(2)
    for _ in range(STEPS):
        logits = np.clip(rows @ weights, -LARGEST, LARGEST)
        chance = 1 / (1 + np.exp(-logits))
        gradient = rows.T @ (chance - labels) + penalty @ weights
        curvature = (rows * (chance * (1 - chance))[:, None]).T @ rows + penalty
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step
        if np.abs(step).max() < 1e-9:
            break
    return np.array([weights[0], weights[1] / spread])
