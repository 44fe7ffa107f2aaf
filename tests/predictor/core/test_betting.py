"""Bets on margins: what they win, and how seldom by chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.betting import ENOUGH, LEAST, MOST_CORRELATION, MOST_WEALTH, Betting

MARGINS = st.lists(st.floats(-1, 1), max_size=80)


def after(margins):
    betting = Betting()
    for margin in margins:
        betting = betting.add(float(margin))
    return betting


def won(margins):
    """Return whether bets on a stream of margins ever win enough."""
    betting = Betting()
    for margin in margins:
        betting = betting.add(float(margin))
        if betting.is_enough:
            return True
    return False


def stream(seed, mean, n, *, correlation=0.0, deviation=0.25):
    """Return margins of which each follows the one before, with one mean and deviation."""
    rng = np.random.default_rng(seed)
    fresh = rng.normal(0, deviation * np.sqrt(1 - correlation**2), n)
    margins, before = np.empty(n), rng.normal(0, deviation)
    for step in range(n):
        before = margins[step] = correlation * before + fresh[step]
    return (margins + mean).clip(-1, 1)


def test_the_wealth_is_the_formula():
    first = (0.75 + 0.25 * 50 / (50 * 51)) * (1 + 0.98 * 0.364)
    assert after([0.4]).wealth == pytest.approx(first)

    rho = after([0.4]).correlation
    assert rho == pytest.approx(0.1)
    joining = 0.25 * 50 / (51 * 52)
    second = (first + joining) * (1 + 0.98 / (29 / 30) * (-0.236 - rho * 0.364))
    assert after([0.4, -0.2]).wealth == pytest.approx(second)


def test_the_stake_is_less_where_margins_vary_more():
    assert Betting().stake == 0.98
    narrow = after(stream(1, 0.1, 400, deviation=0.15))
    assert narrow.stake == pytest.approx(0.98 / (1.25 * narrow.worst))  # 0.36 at most was lost
    wide = after(stream(1, 0.1, 400, deviation=0.45))
    assert wide.correlation < 0.1
    hoped = 0.09 * (1 - wide.correlation)
    variance = (1 - wide.correlation**2) * np.var(stream(1, 0.1, 400, deviation=0.45))
    assert wide.stake == pytest.approx(hoped / (variance + hoped**2), rel=0.05)
    assert wide.stake < 0.65


def test_a_great_fall_from_one_margin_to_the_next_leaves_some_wealth():
    before = after([1.0, 1.0, 1.0])
    assert before.innovation(-1.0, LEAST) < -1
    joining = 0.45 * 50 / (53 * 54)
    assert before.add(-1.0).wealth == pytest.approx((before.wealth + joining) * 0.02, rel=0.5)
    assert before.add(-1.0).wealth > 0


def test_the_correlation_is_that_of_margins_with_the_one_before():
    assert Betting().correlation == pytest.approx(0.1)
    for correlation in (0.0, 0.3):
        told = after(stream(3, 0.1, 2_000, correlation=correlation)).correlation
        assert told == pytest.approx(correlation, abs=0.05)
    assert after([0.3, -0.3] * 100).correlation == 0.0
    assert after([0.9] * 50 + [-0.9] * 50).correlation == MOST_CORRELATION


@given(MARGINS)
def test_the_wealth_is_never_lost_whole_nor_without_bounds(margins):
    betting = after(margins)

    assert 0 <= betting.wealth <= MOST_WEALTH
    assert 0 <= betting.correlation <= MOST_CORRELATION
    assert after([1.0] * 100).wealth == MOST_WEALTH


def test_a_mean_that_being_shown_may_cause_wins_nothing():
    """Where rankings differ in kind, a lift of .3 moves drafted margins of 0 to +.007."""
    lucky = sum(won(stream(seed, 0.007, 900)) for seed in range(100))

    assert lucky <= 5


def test_all_that_joins_is_one():
    """Bets on ties win and lose nothing."""
    assert after([0.0] * 20_000).wealth == pytest.approx(1, abs=0.002)


@pytest.mark.parametrize("correlation", [0.0, 0.3])
def test_a_margin_of_zero_hardly_ever_wins_enough(correlation):
    """Asked after each of 500 sessions; a z above 2 passes half of them."""
    lucky = sum(won(stream(seed, 0.0, 500, correlation=correlation)) for seed in range(200))

    assert lucky <= 10


def test_a_good_ranker_wins_enough_and_soon():
    for mean, soon in ((0.12, 60), (0.3, 30)):
        assert sum(won(stream(seed, mean, soon)) for seed in range(100)) >= 50


def test_a_ranker_that_learned_late_wins_enough():
    learned = [np.concatenate([stream(s, -0.1, 60), stream(s, 0.2, 120)]) for s in range(40)]

    assert after(stream(0, -0.1, 60)).wealth < ENOUGH / 100
    assert sum(map(won, learned)) >= 36
