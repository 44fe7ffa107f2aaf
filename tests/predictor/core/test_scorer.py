import numpy as np
import pytest

from predictor.core.checks import ScoreError
from predictor.core.features import WidthError
from predictor.core.linear import fit_linear
from predictor.core.scorer import Scorer
from tests.predictor.core.worlds import candidates_of, context_of, sessions_of, unit


def _scorer(native=24, n=40):
    rng = np.random.default_rng(7)
    return Scorer.initial(None, unit(rng.standard_normal((n, native))), rng=rng)


def test_a_fit_changes_only_the_scorer_it_is_called_on():
    scorer = _scorer()
    before = scorer.to_bytes()
    copy = scorer.copy()
    report = copy.fit(sessions_of(np.random.default_rng(1), 12), rng=np.random.default_rng(2))
    assert report.samples_used == 12
    assert scorer.to_bytes() == before
    assert not scorer.is_trained
    assert copy.is_trained
    assert copy.to_bytes() != before


def test_the_same_seed_gives_the_same_bytes():
    sessions = sessions_of(np.random.default_rng(1), 12)
    scorers = [_scorer() for _ in range(3)]
    for scorer, seed in zip(scorers, (5, 5, 6), strict=True):
        scorer.fit(sessions, rng=np.random.default_rng(seed))
    assert scorers[0].to_bytes() == scorers[1].to_bytes()
    assert scorers[0].to_bytes() != scorers[2].to_bytes()


@pytest.mark.parametrize("native", [8, 384, 768])
def test_a_checkpoint_gives_the_same_scores(native):
    rng = np.random.default_rng(3)
    scorer = _scorer(native, n=5)
    candidates, context = candidates_of(rng, 9, native), context_of(rng, native)
    again = Scorer.from_bytes(scorer.to_bytes())
    assert again.embedding_width == native
    assert (again.score(context, candidates) == scorer.score(context, candidates)).all()


@pytest.mark.parametrize("is_embedded", [True, False])
def test_the_linear_scores_are_those_of_the_linear_ranking_alone(is_embedded):
    rng = np.random.default_rng(3)
    sessions = sessions_of(rng, 12)
    scorer = _scorer()
    scorer.fit(sessions, rng=np.random.default_rng(2))
    candidates, context = candidates_of(rng, 9), context_of(rng, is_embedded=is_embedded)
    found = scorer.linear_scores(context, scorer.prepare(candidates))
    alone = fit_linear(sessions).score(context, candidates)
    assert found == pytest.approx(alone, rel=1e-4, abs=1e-5)
    assert found.dtype == np.float32
    assert found != pytest.approx(scorer.score(context, candidates), rel=1e-2)


def test_an_untrained_model_has_no_linear_scores():
    rng = np.random.default_rng(3)
    scorer = _scorer()
    ready = scorer.prepare(candidates_of(rng, 9))
    assert scorer.linear_scores(context_of(rng), ready) is None


def test_linear_scores_refuse_what_scores_refuse():
    rng = np.random.default_rng(3)
    scorer, other = _scorer(), _scorer()
    for one in (scorer, other):
        one.fit(sessions_of(rng, 12), rng=np.random.default_rng(2))
    candidates, context = candidates_of(rng, 9), context_of(rng)
    with pytest.raises(WidthError):
        scorer.linear_scores(context, other.prepare(candidates))
    with pytest.raises(WidthError):
        scorer.linear_scores(context_of(rng, 8), scorer.prepare(candidates))
    context.embedding[0] = np.inf
    with pytest.raises(ScoreError):
        scorer.linear_scores(context, scorer.prepare(candidates))
