"""The model against an independent implementation, and its gradients against differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.core import checkpoint
from predictor.core.adam import PACE
from predictor.core.assembly import assemble_batches, pool_of
from predictor.core.gradients import ScoredBatch, loss_and_gradient, loss_of
from predictor.core.scorer import Scorer
from predictor.core.weights import shapes
from tests.predictor.core import naive
from tests.predictor.core.worlds import candidates_of, context_of, sessions_of, unit

NATIVE = 24
TEMPERATURE = 0.5


def _weights(seed=0):
    """Draw weights in float64 of which none is zero or at its start."""
    rng = np.random.default_rng(seed)
    weights = {}
    for name, shape in shapes(NATIVE).items():
        weights[name] = 0.25 * rng.standard_normal(shape)
    for name in ("signal_scale", "prior_scale", "linear_scale", "scale_embedded", "scale_text"):
        weights[name] = np.abs(weights[name]) + 0.5
    return weights


def _batch(weights, sessions, directions, *, dtype=np.float64):
    """Assemble all sessions as one batch."""
    order = range(len(sessions))
    (batch,) = assemble_batches(
        weights,
        sessions,
        pool_of(sessions),
        directions,
        size=len(sessions),
        order=list(order),
        dtype=dtype,
    )
    return batch


def _directions(rng):
    return np.linalg.qr(rng.standard_normal((NATIVE, 20)))[0]


def _sessions(count=6):
    rng = np.random.default_rng(11)
    sessions = sessions_of(rng, count, n=5, native=NATIVE)
    # the same memories in two sessions, and one memory twice in one session
    again = sessions[0].candidates
    sessions[1] = type(sessions[1])(sessions[1].context, again, -sessions[0].labels, 0.7)
    again.embeddings[4] = again.embeddings[3]
    again.is_embedded[3:] = True
    for n, session in enumerate(sessions):
        if n % 2:
            own = replace(session.candidates, baseline=rng.random(5))
            weights = rng.uniform(1, 9, 5)  # drawn to be judged with a probability of 1 / weight
            sessions[n] = replace(session, candidates=own, weights=weights)
    assert not all(s.candidates.is_embedded.all() for s in sessions)
    assert any(s.context.embedding is None for s in sessions)
    assert any(s.context.project_slot is None for s in sessions)
    return sessions


@pytest.mark.parametrize("name", sorted(PACE))
def test_gradients_agree_with_finite_differences(name):
    rng = np.random.default_rng(4)
    directions, sessions = _directions(rng), _sessions()
    weights = _weights() | {"turn": 0.3 * rng.standard_normal((20, 64))}
    batch = _batch(weights, sessions, directions)
    _, gradient = loss_and_gradient(weights, batch, TEMPERATURE)
    for _ in range(3):  # along three random lines through every number of the array at once
        line = rng.standard_normal(weights[name].shape)
        step = 1e-5 / np.sqrt(line.size)
        there, back = (
            loss_of(
                ScoredBatch(weights | {name: weights[name] + sign * step * line}, batch).scores,
                batch,
                TEMPERATURE,
            )[0]
            for sign in (1, -1)
        )
        measured = (there - back) / (2 * step)
        assert np.sum(gradient[name] * line) == pytest.approx(measured, rel=1e-5)


@pytest.mark.parametrize("name", ["key", "projects", "scale_text", "turn", "value"])
def test_gradients_of_single_numbers_agree_with_finite_differences(name):
    rng = np.random.default_rng(5)
    directions, sessions = _directions(rng), _sessions()
    weights = _weights() | {"turn": 0.3 * rng.standard_normal((20, 64))}
    batch = _batch(weights, sessions, directions)
    _, gradient = loss_and_gradient(weights, batch, TEMPERATURE)
    largest = np.argsort(-np.abs(gradient[name]).ravel())[:5]
    for place in largest:
        values = []
        for sign in (1, -1):
            moved = weights[name].copy()
            moved.ravel()[place] += sign * 1e-4
            values.append(
                loss_of(ScoredBatch(weights | {name: moved}, batch).scores, batch, TEMPERATURE)[0]
            )
        measured = (values[0] - values[1]) / 2e-4
        assert gradient[name].ravel()[place] == pytest.approx(measured, rel=1e-5)


def test_every_parameter_is_trained_or_known_to_be_fixed():
    fixed = {
        "mean",
        "injected",  # in closed form, within a bound
        "projection",  # moves by `turn`
        "words",  # fitted without labels
        "linear_mean",  # in closed form, with a share of its own
        "linear_scale",
        "linear",
        "linear_share",
        "trust",  # by sessions that were not learned from
        "signal_mean",
        "signal_scale",
        "prior_mean",
        "prior_scale",
        "project_logits",
    }
    assert set(shapes(NATIVE)) == (set(PACE) - {"turn"}) | fixed


def test_the_loss_agrees_with_the_naive_one():
    weights, sessions = _weights(), _sessions()
    rng = np.random.default_rng(6)
    turn = 0.3 * rng.standard_normal((20, 64))
    directions = _directions(rng)
    batch = _batch(weights, sessions, directions)
    loss, _ = loss_and_gradient(weights | {"turn": turn}, batch, TEMPERATURE)
    folded = weights | {"projection": weights["projection"] + directions @ turn}
    assert loss == pytest.approx(naive.loss(folded, sessions, TEMPERATURE), rel=1e-9)


@pytest.mark.parametrize("is_embedded", [True, False])
@pytest.mark.parametrize("slot", [None, 17])
@pytest.mark.parametrize("has_baseline", [True, False])
def test_scores_agree_with_the_naive_ones(is_embedded, slot, has_baseline):
    rng = np.random.default_rng(8)
    weights = {name: array.astype(np.float32) for name, array in _weights(9).items()}
    scorer = Scorer(weights, flags=checkpoint.FINE_TUNED)
    candidates = candidates_of(rng, 9, NATIVE, share_text=0.4)
    if has_baseline:
        candidates = replace(candidates, baseline=rng.random(9))
    context = context_of(rng, NATIVE, slot=slot, is_embedded=is_embedded)
    wanted = [naive.score(weights, context, candidates, i) for i in range(9)]
    assert scorer.score(context, candidates) == pytest.approx(wanted, abs=2e-5)


def test_training_and_scoring_read_the_same_scores():
    rng = np.random.default_rng(10)
    scorer = Scorer.initial(None, unit(rng.standard_normal((30, NATIVE))), rng=rng)
    sessions = _sessions()
    scorer.fit(sessions, rng=rng)
    state = checkpoint.read(scorer.to_bytes())[0]
    state["trust"][:] = 1  # which is of scoring alone
    state["linear_share"][:] = 0  # likewise
    scorer = Scorer(state, flags=checkpoint.FINE_TUNED)
    weights = {n: a.astype(float) for n, a in state.items()}
    batch = _batch(weights, sessions, _directions(rng))
    seen = ScoredBatch(
        weights | {"turn": np.zeros((20, 64)), "injected": np.zeros(1)}, batch
    ).scores
    told = np.concatenate([scorer.score(s.context, s.candidates) for s in sessions])
    assert told == pytest.approx(seen, abs=1e-5)
