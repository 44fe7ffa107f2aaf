"""Two rankings into one, and diversity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.fusion import diversify, rrf

rankings = st.lists(st.integers(0, 12), unique=True, max_size=8)


def test_rrf_is_the_formula():
    fused = rrf(["a", "b"], ["b", "c", "d"], alpha=0.6, k=12)

    assert fused == pytest.approx(
        {
            "a": 0.6 / 13 + 0.4 / 16,  # missing among three: rank 4
            "b": 0.6 / 14 + 0.4 / 13,
            "c": 0.6 / 15 + 0.4 / 14,
            "d": 0.6 / 15 + 0.4 / 15,
        }
    )
    assert list(fused) == ["b", "a", "c", "d"]


@given(rankings, rankings)
def test_full_weight_gives_one_ranking_exactly(baseline, predictor):
    fused = list(rrf(baseline, predictor, alpha=1.0))

    assert fused[: len(baseline)] == baseline
    assert set(fused) == {*baseline, *predictor}
    assert list(rrf(predictor, baseline, alpha=0.0))[: len(baseline)] == baseline


@given(rankings, st.floats(0, 1))
def test_rankings_that_agree_stay(ranking, alpha):
    assert list(rrf(ranking, ranking, alpha=alpha)) == ranking


def unit(*values):
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def test_repetitions_weigh_one_then_55_then_32_5_percent():
    scores = dict.fromkeys("abcd", 1.0)
    same = dict.fromkeys("abcd", unit(1, 0))

    assert diversify(scores, same, limit=4) == pytest.approx(
        {"a": 1.0, "b": 0.55, "c": 0.325, "d": 0.2125}
    )


def test_something_new_passes_a_repetition():
    vectors = {"a": unit(1, 0), "twin": unit(1, 0.01), "new": unit(0, 1)}

    chosen = diversify({"a": 1.0, "twin": 0.9, "new": 0.6}, vectors, limit=2)

    assert chosen == {"a": 1.0, "new": 0.6}


def test_exempt_ids_and_ids_without_vectors_keep_their_score():
    vectors = {"a": unit(1, 0), "constraint": unit(1, 0)}
    scores = {"a": 1.0, "constraint": 0.9, "unembedded": 0.8}

    assert diversify(scores, vectors, limit=3, exempt={"constraint"}) == scores


def eager(scores, vectors, limit):
    """Choose by recomputing everything at every step."""
    chosen = {}
    while len(chosen) < min(limit, len(scores)):
        best, best_score = None, -1.0
        for i, score in scores.items():
            if i in chosen:
                continue
            n = sum(float(vectors[i] @ vectors[j]) > 0.85 for j in chosen)
            current = score * (0.9 * 0.5**n + 0.1)
            if current > best_score:
                best, best_score = i, current
        chosen[best] = best_score
    return chosen


@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.floats(0, 3.1)), max_size=12),
    st.integers(0, 12),
)
def test_lazy_choice_is_the_eager_choice(items, limit):
    scores = {i: score for i, (score, _) in enumerate(items)}
    vectors = {i: unit(np.cos(a), np.sin(a)) for i, (_, a) in enumerate(items)}

    assert diversify(scores, vectors, limit=limit) == eager(scores, vectors, limit)
