"""The edges of the model: what is prepared beforehand, and the smallest and oddest inputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core import basis
from predictor.core.features import WidthError, token_buckets
from predictor.core.scorer import ScoreError, Scorer
from predictor.core.wordvectors import word_vectors
from tests.predictor.core.worlds import candidates_of, context_of, sessions_of, unit

NATIVE = 24


@pytest.fixture
def rng():
    return np.random.default_rng(30)


@pytest.fixture
def scorer(rng):
    scorer = Scorer.initial(None, unit(rng.standard_normal((40, NATIVE))), rng=rng)
    scorer.fit(sessions_of(rng, 8), rng=rng)
    return scorer


def test_prepared_candidates_score_as_plain_ones(scorer, rng):
    candidates = candidates_of(rng, 30, NATIVE)
    prepared = scorer.prepare(candidates)
    assert len(prepared) == 30
    for context in (context_of(rng), context_of(rng, slot=None, is_embedded=False)):
        assert (scorer.score(context, prepared) == scorer.score(context, candidates)).all()


def test_what_other_weights_prepared_is_refused(scorer, rng):
    prepared = scorer.prepare(candidates_of(rng, 5, NATIVE))
    other = scorer.copy()
    other.fit(sessions_of(rng, 8), rng=rng)
    assert scorer.score(context_of(rng), prepared).shape == (5,)
    with pytest.raises(WidthError, match="other weights"):
        other.score(context_of(rng), prepared)


@pytest.mark.parametrize("count", [0, 1, 2, 300])
@pytest.mark.parametrize("native", [1, 8, 64, 384, 768])
def test_any_number_of_memories_of_any_width_makes_a_model(rng, count, native):
    embeddings = unit(rng.standard_normal((count, native)))
    texts = [np.unique(rng.integers(0, 16_384, 5)) for _ in range(count)]
    scorer = Scorer.initial(None, embeddings, rng=rng, texts=texts)
    scores = scorer.score(context_of(rng, native), candidates_of(rng, 6, native))
    assert np.isfinite(scores).all()
    assert scorer.embedding_width == native


@pytest.mark.parametrize(
    ("embeddings", "error"),
    [
        (np.zeros(24), WidthError),
        (np.zeros((3, 0)), WidthError),
        (np.full((3, 24), np.nan), ScoreError),
    ],
)
def test_what_are_no_embeddings_is_refused(rng, embeddings, error):
    with pytest.raises(error):
        Scorer.initial(None, embeddings, rng=rng)


def test_as_many_texts_as_embeddings_are_wanted(rng):
    with pytest.raises(WidthError):
        Scorer.initial(None, np.zeros((3, 24)), rng=rng, texts=[np.arange(2)])


def test_directions_are_orthonormal_and_the_principal_ones_first(rng):
    scales = np.array([5.0, 3.0] + [0.1] * 22)
    rows = rng.standard_normal((500, NATIVE)) * scales
    found = basis.principal_directions(rows, 8, rng=rng)
    assert found.shape == (NATIVE, 8)
    assert found.T @ found == pytest.approx(np.eye(8), abs=1e-5)
    assert np.abs(found[[0, 1], [0, 1]]) == pytest.approx([1, 1], abs=0.01)


def test_rows_that_span_little_are_filled_up_with_other_directions(rng):
    found = basis.principal_directions(np.ones((3, NATIVE)), 10, rng=rng)
    assert found.T @ found == pytest.approx(np.eye(10), abs=1e-5)
    assert basis.principal_directions(np.zeros((0, 5)), 10, rng=rng).shape == (5, 5)


def test_word_vectors_are_the_ridge_solution(rng):
    texts = [np.unique(rng.integers(0, 50, rng.integers(1, 8))) for _ in range(30)]
    targets = rng.standard_normal((30, 4))
    pooling = np.zeros((30, 50))
    for i, words in enumerate(texts):
        pooling[i, words] = 1 / len(words)
    wanted = pooling.T @ np.linalg.solve(pooling @ pooling.T + 0.005 * np.eye(30), targets)
    assert word_vectors(texts, targets, size=50) == pytest.approx(wanted, abs=1e-2)


def test_texts_without_words_have_no_part_in_word_vectors(rng):
    none = np.empty(0, dtype=np.int64)
    assert not word_vectors([none, none], rng.standard_normal((2, 4)), size=50).any()
    assert not word_vectors([], np.empty((0, 4)), size=50).any()


@pytest.mark.parametrize("bucket", [-1, 16_384])
def test_a_bucket_that_is_none_is_refused(scorer, rng, bucket):
    candidates = candidates_of(rng, 3, NATIVE, share_text=1.1)
    candidates.token_buckets[1] = np.array([5, bucket])
    with pytest.raises(ScoreError):
        scorer.score(context_of(rng), candidates)


@pytest.mark.parametrize("slot", [-1, 32])
def test_a_project_slot_that_is_none_is_refused(scorer, rng, slot):
    with pytest.raises(ScoreError):
        scorer.score(context_of(rng, slot=slot), candidates_of(rng, 3, NATIVE))


@given(text=st.text(), data=st.data())
def test_any_text_is_scored(text, data):
    rng = np.random.default_rng(1)
    scorer = Scorer.initial(None, unit(rng.standard_normal((5, NATIVE))), rng=rng)
    candidates = candidates_of(rng, 2, NATIVE, share_text=1.1)
    candidates.token_buckets[0] = token_buckets(text)
    scale = data.draw(st.sampled_from([0.0, 1.0, 1e6, -1e6]))
    candidates = replace(candidates, signals=candidates.signals * scale)
    assert np.isfinite(scorer.score(context_of(rng), candidates)).all()


def test_scores_beyond_all_bounds_are_refused(scorer, rng):
    candidates = candidates_of(rng, 3, NATIVE)
    huge = replace(candidates, log_effectiveness=np.full(3, 1e300))
    with pytest.raises(ScoreError):
        scorer.score(context_of(rng), huge)
    context = context_of(rng)
    far = replace(context, embedding=np.full(NATIVE, 1e38, dtype=np.float32))
    with pytest.raises(ScoreError, match="a score is not finite"):  # and no warning is heard
        scorer.score(far, candidates)
