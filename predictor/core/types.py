"""Inputs of rankers as plain arrays: context, candidates, labelled sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEATURE_VERSION = 1  # of the signal columns and the token buckets
TOKEN_BUCKETS = 16_384
PROJECT_SLOTS = 32

SIGNALS = (
    "log_age_days",
    "importance",
    "log_access_count",
    "hour_sin",
    "hour_cos",
    "weekday_sin",
    "weekday_cos",
    "month_sin",
    "month_cos",
    "log_gap_hours",
    "is_embedded",
    "is_superseded",
)
CLOCK_COLUMNS = slice(SIGNALS.index("hour_sin"), SIGNALS.index("month_cos") + 1)
GAP_COLUMN = SIGNALS.index("log_gap_hours")
# The columns in which candidates of one session may differ. Clock and gap are the same for all of
# them, so a linear term of these cannot change a ranking.
CANDIDATE_COLUMNS = (*range(CLOCK_COLUMNS.start), *range(GAP_COLUMN + 1, len(SIGNALS)))


@dataclass(frozen=True, slots=True)
class Context:
    """The session for which memories are ranked.

    Parameters
    ----------
    embedding : (native,) float32, the unit vector of the session's context; None without one.
    project_slot : 0..31, a hash of the project's name; None when the session names none.
    hour, weekday, month : 0 <= hour < 24, 0 <= weekday < 7, 0 <= month < 12, fractional, in the
        workspace's time zone.
    gap_hours : hours since the previous session, at least 0.
    """

    embedding: NDArray[np.float32] | None
    project_slot: int | None
    hour: float
    weekday: float
    month: float
    gap_hours: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """The n memories to rank; each is scored independently.

    Parameters
    ----------
    embeddings : (n, native) float32, unit rows; rows without an embedding are ignored.
    is_embedded : (n,) bool.
    token_buckets : n arrays of ints in [0, 16384), the hashed words of each memory.
    signals : (n, 12) float, columns as in `SIGNALS`.
    log_effectiveness : (n,) log of importance · 0.95^days.
    is_injected : (n,) bool, for training only; None when scoring.
    baseline : (n,) the baseline's scores, in [0, 1]; None where they are unknown.
    """

    embeddings: NDArray[np.float32]
    is_embedded: NDArray[np.bool_]
    token_buckets: Sequence[NDArray[np.integer]]
    signals: NDArray[np.floating]
    log_effectiveness: NDArray[np.floating]
    is_injected: NDArray[np.bool_] | None = None
    baseline: NDArray[np.floating] | None = None

    def __len__(self) -> int:
        return len(self.log_effectiveness)


@dataclass(frozen=True, slots=True)
class LabelledSession:
    """A judged session: labels (n,) in [-1, 1] for its candidates, confidence in [0, 1].

    `weights` (n,), above 0, say how many candidates each one stands for: 1 / the probability with
    which it was chosen to be judged. None: 1 each.
    """

    context: Context
    candidates: Candidates
    labels: NDArray[np.floating]
    confidence: float
    weights: NDArray[np.floating] | None = None

    @property
    def shares(self) -> NDArray[np.float64]:
        """Return how much each candidate counts in training, (n,), 1 in the mean.

        The square roots of the weights: with whole weights the few that were drawn outweigh those
        between which the first ten are decided, and rankings were worse (docs/tuning.md).
        """
        if self.weights is None or not len(self.weights):
            return np.ones(len(self.labels))
        weights = np.sqrt(np.asarray(self.weights, dtype=np.float64))
        return np.asarray(weights / weights.mean())
