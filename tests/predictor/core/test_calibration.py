"""The judge against people, and whom people are asked about."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.calibration import (
    CalibrationCandidate,
    RatedMemory,
    compare_labels,
    draw_stratified,
    stratum_of,
)


def report(pairs):
    return compare_labels([RatedMemory(*pair) for pair in pairs])


def test_error_bias_and_agreement_are_those_of_the_pairs():
    found = report([("s1", 0.5, 0.7), ("s1", 1.0, 0.9), ("s2", 0.25, 0.55), ("s3", 0.0, 0.0)])

    assert found.n == 4
    assert found.mae == pytest.approx((0.2 + 0.1 + 0.3) / 4)
    assert found.bias == pytest.approx((0.2 - 0.1 + 0.3) / 4)
    assert found.agreement == 0.75  # on 0.25 against 0.55 they differ
    assert found.interval.low <= found.mae <= found.interval.high
    assert found.agreement_interval.low == pytest.approx(0.3006, abs=1e-3)


def test_without_labels_nothing_is_known():
    found = report([])

    assert (found.n, found.mae, found.bias, found.agreement) == (0, None, None, None)
    assert (found.interval.low, found.interval.high, found.is_flagged) == (0, 1, False)


def test_one_session_tells_little_of_others():
    found = report([("s", 0.5, 0.6)] * 30)

    assert (found.interval.low, found.interval.high) == (0.0, 1.0)
    assert (found.bias_interval.low, found.bias_interval.high) == (-1.0, 1.0)


def test_intervals_hold_the_truth_although_sessions_go_wrong_together():
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(400):
        of_session = np.repeat(rng.normal(0.1, 0.15, 15), 2)  # 30 labels, two a session
        judge = np.clip(0.5 + of_session + rng.normal(0, 0.05, 30), 0, 1)
        found = report([(i // 2, 0.5, value) for i, value in enumerate(judge)])
        held += found.bias_interval.low <= 0.1 <= found.bias_interval.high

    assert 0.9 <= held / 400 <= 0.98


@pytest.mark.parametrize(("judge", "flagged"), [(0.7, False), (0.71, True)])
def test_an_error_over_a_fifth_is_flagged(judge, flagged):
    assert report([(i, 0.5, judge) for i in range(20)]).is_flagged is flagged


def test_strata_are_bands_of_relevance_and_confidence():
    assert [stratum_of(r, 0.9) for r in (0.0, 0.4, 1.0)] == [
        "low, sure",
        "middle, sure",
        "high, sure",
    ]
    assert stratum_of(0.5, 0.79) == "middle, unsure"


items = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(["high", "middle", "low"])), max_size=80
).map(
    lambda told: [
        CalibrationCandidate(index, unit, stratum) for index, (unit, stratum) in enumerate(told)
    ]
)


@given(items, st.integers(0, 50), st.integers(0, 9))
def test_a_draw_is_even_over_strata_and_keeps_sessions_together(found, size, seed):
    drawn = draw_stratified(found, size, np.random.default_rng(seed))
    by_id = {item.id: item for item in found}

    assert len(drawn) == len(set(drawn)) == min(size, len(found))
    taken = Counter(by_id[i].stratum for i in drawn)
    there = Counter(item.stratum for item in found)
    unfilled = [taken[s] for s in there if taken[s] < there[s]]
    assert max(taken.values(), default=0) <= min(unfilled, default=80) + 1
    sessions = [by_id[i].unit for i in drawn]
    assert len(set(sessions)) == len(list(itertools.groupby(sessions)))


def test_a_draw_follows_its_generator_and_its_order_tells_nothing():
    found = [CalibrationCandidate(i, i, "high" if i < 20 else "low") for i in range(40)]
    first, again = (draw_stratified(found, 20, np.random.default_rng(4)) for _ in range(2))
    places = [
        place
        for seed in range(300)
        for place, i in enumerate(draw_stratified(found, 20, np.random.default_rng(seed)))
        if i < 20
    ]

    assert first == again
    assert np.mean(places) == pytest.approx(9.5, abs=0.4)
