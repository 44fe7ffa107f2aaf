"""How much of the score is the linear ranking's is decided on sessions not learned from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.core import weights as core_weights
from predictor.core.linear import columns, fit_linear
from predictor.core.shares import choose_shares
from tests.predictor.core.worlds import sessions_of

NATIVE = 24


def _weights(rng, *, linear_noise, network_noise):
    """Return weights whose two rankings follow the labels of `sessions_of`, or nothing."""
    basis = np.linalg.qr(rng.standard_normal((NATIVE, NATIVE)))[0]
    projection = np.zeros((NATIVE, core_weights.DIMENSION))
    projection[:, :NATIVE] = basis
    found = core_weights.initial(NATIVE, mean=np.zeros(NATIVE), projection=projection, rng=rng)
    lessons = sessions_of(np.random.default_rng(9), 60, n=20)
    linear = fit_linear(lessons)
    found["linear_mean"], found["linear_scale"] = linear.mean, linear.scale
    slopes = rng.standard_normal(len(linear.slopes)) if linear_noise else linear.slopes
    found["linear"] = slopes.astype(np.float32)
    found["signal_head"][1] = 1.0  # the importance, which the labels follow
    if network_noise:
        found["value_head"][:] = 5 * rng.standard_normal(len(found["value_head"]))
    return found


@pytest.mark.parametrize(
    ("linear_noise", "network_noise", "wanted"), [(True, False, 0.0), (False, True, 0.5)]
)
def test_the_share_is_that_of_the_better_ranking(linear_noise, network_noise, wanted):
    learned = _weights(
        np.random.default_rng(4), linear_noise=linear_noise, network_noise=network_noise
    )
    sessions = sessions_of(np.random.default_rng(5), 30, n=20)
    found = choose_shares(sessions, lambda _: learned)
    assert found.linear == wanted
    assert found.trust == 1.0  # no session has a baseline


def test_the_session_that_is_ranked_was_not_learned_from():
    sessions = sessions_of(np.random.default_rng(5), 20, n=20)
    seen = []

    def learn(some):
        seen.append(some)
        return _weights(np.random.default_rng(4), linear_noise=False, network_noise=False)

    choose_shares(sessions, learn)
    assert sorted(len(sessions) - len(some) for some in seen) == [6, 7, 7]
    left_out = [id(one) for some in seen for one in sessions if all(one is not s for s in some)]
    assert sorted(left_out) == sorted(id(one) for one in sessions)


def test_the_baseline_is_left_only_for_what_is_better():
    rng = np.random.default_rng(5)
    learned = _weights(np.random.default_rng(4), linear_noise=False, network_noise=False)
    sessions = [
        replace(one, candidates=replace(one.candidates, baseline=rng.random(20)))
        for one in sessions_of(rng, 30, n=20)
    ]
    assert choose_shares(sessions, lambda _: learned).trust == 1.0
    perfect = [
        replace(one, candidates=replace(one.candidates, baseline=(one.labels + 1) / 2))
        for one in sessions
    ]
    assert choose_shares(perfect, lambda _: learned).trust == 0.0


def test_few_sessions_are_ranked_by_the_mean_of_both_or_the_baseline():
    sessions = sessions_of(np.random.default_rng(5), 5, n=20)

    def learn(_):
        raise AssertionError("nothing is tried")

    found = choose_shares(sessions, learn)
    assert (found.linear, found.trust) == (0.5, 1.0)
    own = replace(sessions[0].candidates, baseline=np.zeros(20))
    found = choose_shares([replace(sessions[0], candidates=own)], learn)
    assert (found.linear, found.trust) == (0.5, 0.0)


def test_what_was_never_seen_is_not_extrapolated():
    lessons = sessions_of(np.random.default_rng(9), 60, n=20)
    linear = fit_linear(lessons)
    context, candidates = lessons[0].context, lessons[0].candidates
    extreme = candidates.signals.copy()
    extreme[:, 0] = -30.0  # a memory of no age
    bound = linear.mean[0] - 2.5 / linear.scale[0]
    bounded = candidates.signals.copy()
    bounded[:, 0] = bound
    found = [
        linear.score(context, replace(candidates, signals=signals))
        for signals in (extreme, bounded)
    ]
    assert found[0] == pytest.approx(found[1])
    assert columns(context, candidates).shape == (20, 7)
