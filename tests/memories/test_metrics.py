"""Measures of rankings, against values worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.metrics import (
    bootstrap,
    bootstrap_difference,
    bootstrap_ratio,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
    wilson,
)

rankings = st.lists(st.integers(0, 20), max_size=15)
golds = st.sets(st.integers(0, 20), min_size=1)


def rng():
    return np.random.default_rng(7)


def test_recall_counts_gold_among_the_first():
    assert recall_at(["x", "a", "b", "y"], ["a", "b", "c"], 2) == 1 / 3
    assert recall_at(["x", "a", "b", "y"], ["a", "b", "c"], 10) == 2 / 3


def test_a_repeated_id_counts_once_and_takes_one_place():
    assert recall_at(["a", "a", "b"], ["a", "b"], 2) == 1.0
    assert ndcg_at(["a", "a", "b"], {"a": 1, "b": 1}, 10) == 1.0


def test_precision_divides_by_places():
    assert precision_at(["a", "x"], ["a"], 4) == 0.25


def test_reciprocal_rank_is_that_of_the_first_hit():
    assert reciprocal_rank(["x", "b", "a"], ["a", "b"]) == 0.5
    assert reciprocal_rank(["x"], ["a"]) == 0.0


def test_ndcg_discounts_by_rank():
    ideal = 1 + 1 / math.log2(3)
    assert ndcg_at(["x", "a", "b"], {"a": 1, "b": 1}, 10) == pytest.approx(
        (1 / math.log2(3) + 1 / math.log2(4)) / ideal
    )


def test_ndcg_clamps_gains():
    assert ndcg_at(["bad", "a"], {"bad": -5.0, "a": 7.0}, 10) == pytest.approx(1 / math.log2(3))


def test_ndcg_ideal_stops_at_k():
    assert ndcg_at(["a"], {"a": 1, "b": 1}, 1) == 1.0


@pytest.mark.parametrize("gains", [{}, {"a": 0.0}, {"a": -1.0}])
def test_ndcg_without_gain_is_refused(gains):
    with pytest.raises(ValueError, match="at least one gain above 0"):
        ndcg_at(["a"], gains, 10)


def test_measures_without_gold_are_refused():
    for measure in (lambda: recall_at(["a"], [], 1), lambda: reciprocal_rank(["a"], [])):
        with pytest.raises(ValueError, match="without gold"):
            measure()


@given(rankings, golds, st.integers(1, 20))
def test_measures_stay_between_none_and_all(ranked, gold, k):
    gains = dict.fromkeys(gold, 1.0)
    for value in (
        recall_at(ranked, gold, k),
        precision_at(ranked, gold, k),
        reciprocal_rank(ranked, gold),
        ndcg_at(ranked, gains, k),
    ):
        assert 0 <= value <= 1
    assert recall_at(sorted(gold), gold, len(gold)) == 1.0
    assert ndcg_at(sorted(gold), gains, k) == pytest.approx(1.0)


def test_bootstrap_is_the_same_for_the_same_seed_and_holds_the_mean():
    values = [0.0, 1.0] * 50

    interval = bootstrap(values, rng=rng())

    assert interval == bootstrap(values, rng=rng())
    assert (interval.mean, interval.n) == (0.5, 100)
    # 1.96 · sqrt(.25 / 100) = .098 on either side
    assert (interval.low, interval.high) == (
        pytest.approx(0.402, abs=0.02),
        pytest.approx(0.598, abs=0.02),
    )


def test_bootstrap_of_one_value_is_that_value():
    interval = bootstrap([0.3], rng=rng())

    assert (interval.mean, interval.low, interval.high) == (0.3, 0.3, 0.3)


def test_bootstrap_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no values"):
        bootstrap([], rng=rng())


def test_paired_difference_is_surer_than_its_parts():
    before = list(np.random.default_rng(1).random(200))
    after = [value + 0.01 for value in before]

    interval = bootstrap_difference(after, before, rng=rng())

    assert interval.low == pytest.approx(0.01)
    assert interval.high == pytest.approx(0.01)


def test_paired_difference_needs_pairs():
    with pytest.raises(ValueError, match="zip"):
        bootstrap_difference([1.0], [1.0, 2.0], rng=rng())


def test_wilson_interval_matches_a_published_example():
    interval = wilson(1, 10)  # Wilson 1927 as tabulated: .018 to .404

    assert (interval.low, interval.high) == (
        pytest.approx(0.0179, abs=1e-3),
        pytest.approx(0.4042, abs=1e-3),
    )


def test_wilson_of_nothing_knows_nothing():
    assert (wilson(0, 0).low, wilson(0, 0).high, wilson(0, 0).n) == (0.0, 1.0, 0)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share(counts):
    interval = wilson(*counts)

    assert 0 <= interval.low <= interval.mean + 1e-12
    assert interval.mean - 1e-12 <= interval.high <= 1


def test_ratio_is_of_sums_and_resampled_by_unit():
    interval = bootstrap_ratio([1, 0], [1, 3], rng=rng())

    assert (interval.mean, interval.n) == (0.25, 4)
    assert (interval.low, interval.high) == (0.0, 1.0)  # either unit alone is drawn often


def test_ratio_of_nothing_knows_nothing():
    empty = bootstrap_ratio([], [], rng=rng())
    unpredicted = bootstrap_ratio([0, 0], [0, 0], rng=rng())

    assert (empty.low, empty.high, empty.n) == (0.0, 1.0, 0)
    assert unpredicted == empty


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12))
def test_ratio_stays_in_range(units):
    parts = [min(a, b) for a, b in units]
    wholes = [max(a, b) for a, b in units]

    interval = bootstrap_ratio(parts, wholes, rng=rng())

    assert 0 <= interval.low <= interval.high <= 1
    assert 0 <= interval.mean <= 1
