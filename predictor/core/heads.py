"""What has a closed form, or nearly: the linear head, and the odds of projects by time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from predictor.core import forward
from predictor.core.assembly import Batch
from predictor.core.gradients import scores
from predictor.core.types import PROJECT_SLOTS, SIGNALS, LabelledSession
from predictor.core.weights import TIMES, Floats, Weights

_PROJECT_STEPS = 200
_PROJECT_PENALTY = 0.01


def with_head(state: Weights, batches: Sequence[Batch], *, penalty: float) -> Weights:
    """Return ``state`` with w_f, β, ρ and ν as the ridge solution towards what they were.

    Minimises the squared error of the scores against the labels, each centred in its session
    (a constant is no order), weighted by confidence; what is not linear stays as it is.
    """
    names = ("signal_head", "similarity", "prior", "injected")
    start = np.concatenate([state[name] for name in names]).astype(np.float64)
    size = len(SIGNALS) + 3
    gram, moment = penalty * np.eye(size), np.zeros(size)
    turn = {"turn": np.zeros((batches[0].ahead.shape[1], len(state["query"])), dtype=np.float32)}
    for batch in batches:
        rest = batch.labels - scores(state | turn, batch)
        columns = [batch.signals, batch.cosine, batch.prior, batch.injected]
        x = _centred(np.column_stack(columns).astype(np.float64), batch)
        y = _centred(rest[:, None].astype(np.float64), batch)[:, 0]
        weighted = x * batch.confidence[batch.session, None]
        gram += weighted.T @ x
        moment += weighted.T @ y
    solved = (start + np.linalg.solve(gram, moment)).astype(np.float32)
    parts = np.split(solved, np.cumsum([len(state[name]) for name in names])[:-1])
    return state | dict(zip(names, parts, strict=True))


def project_logits(sessions: Sequence[LabelledSession], state: Weights) -> Floats:
    """Fit P(project | time) on the sessions that name a project, (8, 32)."""
    tagged = [s.context for s in sessions if s.context.project_slot is not None]
    logits = np.zeros((TIMES + 1, PROJECT_SLOTS))
    slots = np.array([context.project_slot for context in tagged], dtype=np.intp)
    seen = np.bincount(slots, minlength=PROJECT_SLOTS)
    logits[-1] = np.log((seen + 0.1) / (len(tagged) + 0.1 * PROJECT_SLOTS))
    if tagged:
        times = forward.times_of(tagged, state).astype(np.float64)
        truth = np.eye(PROJECT_SLOTS)[slots]
        for _ in range(_PROJECT_STEPS):
            miss = truth - forward.project_odds(times, logits)
            slope = times.T @ miss / len(tagged) - _PROJECT_PENALTY * logits[:-1]
            logits[:-1] += slope
    return logits.astype(np.float32)


def _centred(rows: Floats, batch: Batch) -> Floats:
    """Take each session's mean from its rows (N, columns)."""
    sizes = np.bincount(batch.session)[:, None]
    means = np.add.reduceat(rows, batch.starts, axis=0) / sizes
    return np.asarray(rows - means[batch.session])
