"""Closed-form training of the project vectors P: what is of use in one project and not in others.

Ridge regression of the centred errors of the scores on h: one direction for all projects, then one
for each project on the residuals. How much projects differ is a property of the workspace: where
each has memories of its own, much is to be learned from few sessions, and where topics cut across
them, nothing. So the penalty is the one that errs least on sessions that were left out, and the
largest of those within a standard error of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from predictor.core.assembly import Batch
from predictor.core.gradients import ScoredBatch
from predictor.core.heads import centre, initial_turn
from predictor.core.types import PROJECT_SLOTS
from predictor.core.weights import DIMENSION, Weights

PENALTIES = (1000.0, 300.0, 100.0, 30.0)  # largest first
FOLDS = 5
_LEAST_SHARE = 0.02

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Told:
    """What a session tells: h (n, d) and errors (n,), centred, weights (n,), projects (32,)."""

    hidden: Matrix
    errors: Matrix
    weights: Matrix
    shares: Matrix


@dataclass(slots=True)
class _Sums:
    """Sums of h hᵀ (32, d, d) and of h · error (32, d), by project."""

    grams: Matrix
    moments: Matrix

    @classmethod
    def empty(cls) -> _Sums:
        """Return sums of nothing."""
        return cls(
            np.zeros((PROJECT_SLOTS, DIMENSION, DIMENSION)), np.zeros((PROJECT_SLOTS, DIMENSION))
        )

    def add(self, one: _Told) -> None:
        """Add a session, with the share in which it is of each project."""
        some = np.flatnonzero(one.shares > _LEAST_SHARE)
        weighted = one.hidden * one.weights[:, None]
        self.grams[some] += one.shares[some, None, None] * (weighted.T @ one.hidden)
        self.moments[some] += one.shares[some, None] * (weighted.T @ one.errors)

    def plus(self, other: _Sums) -> _Sums:
        """Return the sums together with others."""
        return _Sums(self.grams + other.grams, self.moments + other.moments)

    def without(self, other: _Sums) -> _Sums:
        """Return the sums less others."""
        return _Sums(self.grams - other.grams, self.moments - other.moments)

    def directions(self, penalty: float) -> Matrix:
        """Return for each project the direction of h that corrects its errors, (32, d)."""
        ridge = penalty * np.eye(DIMENSION)
        common = np.linalg.solve(self.grams.sum(axis=0) + ridge, self.moments.sum(axis=0))
        left = (self.moments - self.grams @ common)[:, :, None]
        found: Matrix = common + np.linalg.solve(self.grams + ridge, left)[:, :, 0]
        return found


def fit_projects(
    state: Weights, batches: Sequence[Batch], *, penalties: Sequence[float] = PENALTIES
) -> Weights:
    """Return ``state`` with the project vectors P fitted to the errors of the scores.

    S enters the attention as h · W_k (W_qᵀ + 1) S / 8.

    Parameters
    ----------
    penalties : to choose from, largest first.
    """
    told = [one for batch in batches for one in _read(state, batch)]
    folds = [_Sums.empty() for _ in range(FOLDS)]
    for number, one in enumerate(told):
        folds[number % FOLDS].add(one)
    whole = _Sums.empty()
    for fold in folds:
        whole = whole.plus(fold)
    penalty = _choose(told, whole, folds, penalties)
    d = DIMENSION
    reach = (state["query"].astype(np.float64) + np.eye(d)) @ state["key"].T / np.sqrt(d)
    moved = whole.directions(penalty) @ np.linalg.pinv(reach)
    return state | {"projects": (state["projects"] + moved).astype(np.float32)}


def _read(state: Weights, batch: Batch) -> Iterator[_Told]:
    """Return what each session of a batch tells."""
    scored = ScoredBatch(state | initial_turn(batch), batch)
    hidden = centre(scored.hidden[batch.memory], batch)
    errors = centre((batch.labels - scored.scores)[:, None], batch)[:, 0]
    weights = np.asarray(batch.shares, dtype=np.float64)
    projects = np.asarray(batch.projects, dtype=np.float64)
    bounds = np.append(batch.starts, len(hidden)).tolist()
    for number, (start, end) in enumerate(pairwise(bounds)):
        own = slice(start, end)
        shares = batch.confidence[number] * projects[number]
        yield _Told(
            hidden[own].astype(np.float64), errors[own].astype(np.float64), weights[own], shares
        )


def _choose(
    told: Sequence[_Told], whole: _Sums, folds: Sequence[_Sums], penalties: Sequence[float]
) -> float:
    """Return the penalty with the least error on sessions left out, or a larger one as good."""
    if len(told) < 2 * FOLDS or len(penalties) == 1:
        return penalties[0]
    errors = np.empty((len(told), len(penalties)))
    for place, penalty in enumerate(penalties):
        left_out = [whole.without(fold).directions(penalty) for fold in folds]
        for number, one in enumerate(told):
            guess = one.hidden @ (one.shares @ left_out[number % FOLDS])
            errors[number, place] = one.weights @ (one.errors - guess) ** 2 / one.weights.sum()
    mean = errors.mean(axis=0)
    best = int(np.argmin(mean))
    worse = errors - errors[:, [best]]
    noise = worse.std(axis=0, ddof=1) / np.sqrt(len(told))
    as_good = worse.mean(axis=0) <= noise
    return penalties[int(np.argmax(as_good))]
