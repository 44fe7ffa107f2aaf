"""Measures of the learned ranker."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.metrics import expected_calibration, ndcg


def test_ndcg_looks_at_judged_ids_only():
    relevance = {"a": 1.0, "b": 0.2}

    assert ndcg(["unjudged", "a", "other", "b"], relevance) == 1.0
    assert ndcg(["b", "a"], relevance) < 1.0


def test_ndcg_without_relevance_is_refused():
    with pytest.raises(ValueError, match="at least one gain"):
        ndcg(["a"], {"a": 0.0})


def test_calibration_is_the_mean_gap_within_bins():
    predicted = np.array([0.1, 0.1, 0.9, 0.9])

    assert expected_calibration(predicted, predicted) == 0.0
    assert expected_calibration(predicted, np.array([0.0, 0.2, 0.4, 0.4])) == pytest.approx(0.25)


def test_calibration_of_nothing_is_perfect():
    assert expected_calibration(np.array([]), np.array([])) == 0.0


def test_calibration_needs_pairs():
    with pytest.raises(ValueError, match="shapes differ"):
        expected_calibration(np.zeros(2), np.zeros(3))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=30))
def test_calibration_stays_in_range(pairs):
    predicted = np.array([p for p, _ in pairs])
    observed = np.array([o for _, o in pairs])

    assert 0 <= expected_calibration(predicted, observed) <= 1
