"""Closed-form training of the linear head and of the project probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from predictor.core import forward
from predictor.core.assembly import Batch
from predictor.core.gradients import ScoredBatch
from predictor.core.types import CANDIDATE_COLUMNS, PROJECT_SLOTS, LabelledSession
from predictor.core.weights import TIMES, Floats, Weights

_LEAST_VARIANCE = 1e-4
# Freshness adds little to the logarithm of the age, so it is penalised more.
_FRESHNESS_CAUTION = 10.0
# Injected memories are mostly those that the baseline ranks first, and they are judged while others
# are not: without a bound, ν would absorb the effect of the baseline's score.
MAX_INJECTED = 0.1
_LEAST_GAIN = 0.1
# Bounds of the scale of texts, from training to training. It is a ratio: beside a small gain it
# would be many times too large, and texts would rank first or last whatever they say.
TEXT_SCALES = (1 / 3, 3.0)
_PROJECT_STEPS = 200
_PROJECT_PENALTY = 0.01


def fit_head(
    state: Weights, batches: Sequence[Batch], *, penalty: float, is_first: bool
) -> Weights:
    """Return ``state`` with its linear parts fitted by ridge regression towards their old values.

    Minimises the squared error of the scores against the labels, weighted by confidence and by the
    candidates' weights; both are centred within each session, because a constant does not change a
    ranking. The linear parts are w_f, β, ρ and ν; in a first fit also one factor of W_q and one of
    the scale of texts.

    Parameters
    ----------
    penalty : in numbers of candidates, for columns of deviation 1.
    """
    names = ("signal_head", "similarity", "prior", "injected")
    size = sum(len(state[name]) for name in names) + 2 * is_first
    gram, moment, squares, count = np.zeros((size, size)), np.zeros(size), np.zeros(size), 0
    for batch in batches:
        scored = ScoredBatch(state | initial_turn(batch), batch)
        columns = [batch.signals, scored.near, batch.prior, batch.injected]
        if is_first:
            columns += [scored.attention, scored.attention * batch.is_text[batch.memory, 0]]
        x = centre(np.column_stack(columns), batch)
        y = centre((batch.labels - scored.scores)[:, None], batch)[:, 0]
        weighted = x * (batch.confidence[batch.session] * batch.shares)[:, None]
        gram += weighted.T @ x
        moment += weighted.T @ y
        squares += (np.square(x) * batch.shares[:, None]).sum(axis=0)
        count += len(x)
    cautions = np.ones(size)
    cautions[len(CANDIDATE_COLUMNS) : len(state["signal_head"])] = _FRESHNESS_CAUTION
    gram += penalty * np.diag(cautions * (squares / count + _LEAST_VARIANCE))
    moved = _solve(gram, moment, size - 1 - 2 * is_first, float(state["injected"][0]))
    state = dict(state)
    for name in names:
        part, moved = np.split(moved, [len(state[name])])
        state[name] = state[name] + part
    if is_first:
        gain = max(1 + moved[0], _LEAST_GAIN)
        state["query"] = state["query"] * gain
        scale = float(np.clip(1 + moved[1] / gain, *TEXT_SCALES))
        state["scale_text"] = state["scale_text"] * scale
    return state


def fit_project_logits(sessions: Sequence[LabelledSession], state: Weights) -> Floats:
    """Fit P(project | time) on the sessions that name a project, (8, 32)."""
    tagged = [s.context for s in sessions if s.context.project_slot is not None]
    logits = np.zeros((TIMES + 1, PROJECT_SLOTS))
    slots = np.array([context.project_slot for context in tagged], dtype=np.intp)
    counts = np.bincount(slots, minlength=PROJECT_SLOTS)
    logits[-1] = np.log((counts + 0.1) / (len(tagged) + 0.1 * PROJECT_SLOTS))
    if tagged:
        times = forward.times_of(tagged, state).astype(np.float64)
        truth = np.eye(PROJECT_SLOTS)[slots]
        for _ in range(_PROJECT_STEPS):
            miss = truth - forward.project_odds(times, logits)
            slope = times.T @ miss / len(tagged) - _PROJECT_PENALTY * logits[:-1]
            logits[:-1] += slope
    return logits.astype(np.float32)


def _solve(gram: Floats, moment: Floats, injected: int, start: float) -> Floats:
    """Solve the normal equations with ν constrained to [0, `MAX_INJECTED`]."""
    moved = np.linalg.solve(gram, moment)
    held = float(np.clip(start + moved[injected], 0, MAX_INJECTED)) - start
    rest = np.delete(np.arange(len(moved)), injected)
    lessened = moment[rest] - gram[rest, injected] * held
    moved[rest] = np.linalg.solve(gram[np.ix_(rest, rest)], lessened)
    moved[injected] = held
    return np.asarray(moved, dtype=np.float32)


def initial_turn(batch: Batch) -> Weights:
    """Return the change of W_e before training: none."""
    return {"turn": np.zeros((batch.ahead.shape[1], batch.x.shape[1]), dtype=batch.x.dtype)}


def centre(rows: Floats, batch: Batch) -> Floats:
    """Subtract each session's weighted mean from its rows (N, columns), in float64."""
    rows = np.asarray(rows, dtype=np.float64)
    sizes = np.bincount(batch.session)[:, None]  # also the sums of the weights
    means = np.add.reduceat(rows * batch.shares[:, None], batch.starts, axis=0) / sizes
    return np.asarray(rows - means[batch.session])
