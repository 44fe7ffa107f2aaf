"""What every ranker keeps to, whatever it knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.core import rankers
from predictor.core.features import WidthError
from predictor.core.scorer import ScoreError
from predictor.core.types import Candidates
from tests.predictor.core.worlds import candidates_of, context_of, sessions_of, unit

NATIVE = 24


def _model(*, is_trained):
    rng = np.random.default_rng(1)
    model = rankers.model(unit(rng.standard_normal((30, NATIVE))), None, rng=rng)
    if is_trained:
        model.fit(sessions_of(rng, 12), rng=rng)
    return model


def _ridge(*, is_trained):
    ridge = rankers.Ridge()
    if is_trained:
        rng = np.random.default_rng(1)
        ridge.fit(sessions_of(rng, 12), rng=rng)
    return ridge


RANKERS = {
    "random": lambda: rankers.Random(3),
    "ridge": lambda: _ridge(is_trained=True),
    "ridge untrained": lambda: _ridge(is_trained=False),
    "model": lambda: _model(is_trained=True),
    "model untrained": lambda: _model(is_trained=False),
}


@pytest.mark.parametrize("name", ["model untrained", "ridge untrained"])
@pytest.mark.parametrize("has_context", [True, False])
def test_what_has_learned_nothing_ranks_as_the_baseline_does(name, has_context):
    rng = np.random.default_rng(5)
    candidates = replace(candidates_of(rng, 40, share_text=0.5), baseline=rng.random(40))
    scores = RANKERS[name]().score(context_of(rng, is_embedded=has_context), candidates)
    assert np.argsort(-scores).tolist() == np.argsort(-candidates.baseline).tolist()


@pytest.mark.parametrize("name", ["model", "ridge"])
def test_a_baseline_that_is_no_number_is_refused(name):
    rng = np.random.default_rng(5)
    candidates = candidates_of(rng, 3)
    for wrong, error in ((np.array([0.1, np.nan, 0.2]), ScoreError), (np.zeros(2), WidthError)):
        with pytest.raises(error, match="baseline"):
            RANKERS[name]().score(context_of(rng), replace(candidates, baseline=wrong))


@pytest.fixture(params=RANKERS)
def ranker(request):
    return RANKERS[request.param]()


def _taken(candidates, order):
    return Candidates(
        embeddings=candidates.embeddings[order],
        is_embedded=candidates.is_embedded[order],
        token_buckets=[candidates.token_buckets[i] for i in order],
        signals=candidates.signals[order],
        log_effectiveness=candidates.log_effectiveness[order],
        is_injected=None if candidates.is_injected is None else candidates.is_injected[order],
    )


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def test_scores_are_one_finite_float_a_candidate(ranker, rng):
    scores = ranker.score(context_of(rng), candidates_of(rng, 13))
    assert scores.shape == (13,)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()
    assert len(set(scores.tolist())) == 13


@pytest.mark.parametrize("count", [0, 1])
def test_no_candidate_and_one_are_scored(ranker, rng, count):
    assert ranker.score(context_of(rng), candidates_of(rng, count)).shape == (count,)


@pytest.mark.parametrize("share_text", [0.0, 1.0])
def test_candidates_of_one_kind_alone_are_scored(ranker, rng, share_text):
    assert ranker.score(context_of(rng), candidates_of(rng, 5, share_text=share_text)).shape == (5,)


def test_a_context_without_embedding_and_project_is_enough(ranker, rng):
    context = context_of(rng, slot=None, is_embedded=False)
    assert ranker.score(context, candidates_of(rng, 5)).shape == (5,)


def test_scores_follow_their_candidates_through_any_order(ranker, rng):
    context, candidates = context_of(rng), candidates_of(rng, 17)
    order = rng.permutation(17)
    scores = ranker.score(context, candidates)
    assert ranker.score(context, _taken(candidates, order)) == pytest.approx(
        scores[order], abs=1e-5
    )


def test_a_score_does_not_depend_on_the_other_candidates(ranker, rng):
    context, candidates = context_of(rng), candidates_of(rng, 17)
    scores = ranker.score(context, candidates)
    assert ranker.score(context, _taken(candidates, [4, 9])) == pytest.approx(
        scores[[4, 9]], abs=1e-5
    )


def test_whether_a_memory_was_injected_does_not_change_its_score(ranker, rng):
    context, candidates = context_of(rng), candidates_of(rng, 9)
    plain = ranker.score(context, replace(candidates, is_injected=None))
    assert (ranker.score(context, candidates) == plain).all()
    other = replace(candidates, is_injected=~candidates.is_injected)
    assert (ranker.score(context, other) == plain).all()


def test_scoring_twice_gives_the_same_and_changes_nothing(ranker, rng):
    context, candidates = context_of(rng), candidates_of(rng, 9)
    before = candidates.embeddings.copy(), candidates.signals.copy()
    assert (ranker.score(context, candidates) == ranker.score(context, candidates)).all()
    assert (candidates.embeddings == before[0]).all()
    assert (candidates.signals == before[1]).all()


def test_rows_without_an_embedding_are_ignored(ranker, rng):
    context, candidates = context_of(rng), candidates_of(rng, 9, share_text=0.5)
    noise = candidates.embeddings.copy()
    noise[~candidates.is_embedded] = np.nan
    assert (
        ranker.score(context, replace(candidates, embeddings=noise))
        == ranker.score(context, candidates)
    ).all()


def _poisoned(context, candidates, what):
    if what == "context":
        broken = context.embedding.copy()
        broken[2] = np.inf
        return replace(context, embedding=broken), candidates
    if what in ("hour", "gap_hours"):
        return replace(context, **{what: float("nan")}), candidates
    array = getattr(candidates, what).copy()
    array[np.flatnonzero(candidates.is_embedded)[0]] = np.nan
    return context, replace(candidates, **{what: array})


@pytest.mark.parametrize(
    "what", ["context", "hour", "gap_hours", "embeddings", "signals", "log_effectiveness"]
)
def test_numbers_that_are_none_are_refused(ranker, rng, what):
    context, candidates = _poisoned(context_of(rng), candidates_of(rng, 5), what)
    with pytest.raises(ScoreError):
        ranker.score(context, candidates)


@pytest.mark.parametrize("what", ["signals", "log_effectiveness", "is_embedded", "token_buckets"])
def test_pitfall_31_arrays_of_another_length_are_refused(ranker, rng, what):
    candidates = candidates_of(rng, 5)
    with pytest.raises(WidthError):
        ranker.score(context_of(rng), replace(candidates, **{what: getattr(candidates, what)[:4]}))


def test_pitfall_31_another_number_of_signals_is_refused(ranker, rng):
    candidates = candidates_of(rng, 5)
    with pytest.raises(WidthError):
        ranker.score(context_of(rng), replace(candidates, signals=candidates.signals[:, :10]))


def test_pitfall_31_a_context_of_another_width_is_refused(ranker, rng):
    with pytest.raises(WidthError):
        ranker.score(context_of(rng, NATIVE + 1), candidates_of(rng, 5))


def test_learning_from_nothing_useful_changes_no_score(ranker, rng):
    context, candidates = context_of(rng), candidates_of(rng, 9)
    before = ranker.score(context, candidates)
    flat, unsure = sessions_of(rng, 2)
    flat = replace(flat, labels=np.full_like(flat.labels, 0.4))
    unsure = replace(unsure, confidence=0.5)
    ranker.fit([], rng=rng)
    ranker.fit([flat, unsure], rng=rng)
    assert (ranker.score(context, candidates) == before).all()


@pytest.mark.parametrize(
    ("weights", "error"),
    [
        (np.ones(4), WidthError),
        (np.zeros(12), ScoreError),
        (np.full(12, np.nan), ScoreError),
        (np.full(12, -1.0), ScoreError),
    ],
)
def test_weights_that_count_nothing_are_refused(weights, error):
    rng = np.random.default_rng(5)
    [session] = sessions_of(rng, 1)
    for name in ("model", "ridge"):
        with pytest.raises(error, match="weight"):
            RANKERS[name]().fit([replace(session, weights=weights)], rng=rng)


@pytest.mark.parametrize("name", ["model untrained", "ridge untrained"])
@pytest.mark.parametrize("sign", [1, -1])
def test_candidates_count_as_their_weights_say(name, sign):
    """Half of the candidates say the opposite of the others: the heavier half is learned."""
    rng = np.random.default_rng(8)
    sessions, heavy = sessions_of(rng, 20), np.arange(12) % 2 == 0
    turned = [
        replace(s, labels=np.where(heavy, sign, -sign) * s.labels, weights=np.where(heavy, 30, 1))
        for s in sessions
    ]
    ranker = RANKERS[name]()
    ranker.fit(turned, rng=rng)
    alike = [
        np.corrcoef(ranker.score(s.context, s.candidates), s.labels)[0, 1]
        for s in sessions_of(rng, 20)
    ]
    assert np.mean(alike) * sign > 0.3


def test_learning_is_repeatable(ranker, rng):
    sessions, context, candidates = sessions_of(rng, 6), context_of(rng), candidates_of(rng, 9)
    other = ranker.copy() if hasattr(ranker, "copy") else None
    ranker.fit(sessions, rng=np.random.default_rng(2))
    scores = ranker.score(context, candidates)
    assert np.isfinite(scores).all()
    if other is not None:
        other.fit(sessions, rng=np.random.default_rng(2))
        assert (other.score(context, candidates) == scores).all()
