"""What learned scores say of relevance."""

from __future__ import annotations

import numpy as np
import pytest

from predictor.core.learned_relevance import (
    MIN_SESSIONS,
    MOST_SESSIONS,
    LearnedRelevance,
    ScoredSession,
    centre,
    fit,
)

SLOPE, INTERCEPT = 4.0, -1.5


def told(rng: np.random.Generator, *, slope: float = SLOPE, shift: float = 0.0) -> ScoredSession:
    """Draw a session whose memories are relevant as often as the formula says."""
    centred = centre(rng.normal(0.0, 0.5, 60).tolist())
    chance = 1 / (1 + np.exp(-(INTERCEPT + shift + slope * centred)))
    return ScoredSession(centred, (rng.random(60) < chance).astype(np.float64))


def test_the_probabilities_are_those_with_which_memories_are_relevant() -> None:
    rng = np.random.default_rng(1)
    found = fit([told(rng) for _ in range(MOST_SESSIONS)])
    assert found is not None
    assert found.sessions == MOST_SESSIONS
    assert found.slope == pytest.approx(SLOPE, rel=0.15)
    assert found.intercept == pytest.approx(INTERCEPT, rel=0.15)
    scores = [5.0, 5.5, 4.5]
    assert found.of(scores) == pytest.approx(found.of([s - 100 for s in scores]))
    assert found.of(scores)[0] == pytest.approx(1 / (1 + np.exp(-found.intercept)))


def test_only_the_newest_sessions_count() -> None:
    rng = np.random.default_rng(2)
    new = [told(rng) for _ in range(MOST_SESSIONS)]
    assert fit([*new, *(told(rng, slope=-9.0) for _ in range(50))]) == fit(new)


def test_nothing_is_known_from_few_sessions_or_of_a_ranking_that_says_nothing() -> None:
    rng = np.random.default_rng(3)
    good = [told(rng) for _ in range(MIN_SESSIONS)]
    assert fit(good) is not None
    assert fit(good[1:]) is None
    empty = ScoredSession(np.empty(0), np.empty(0))
    assert fit([*good[1:], empty]) is None
    assert fit([told(rng, slope=-SLOPE) for _ in range(20)]) is None
    assert fit([ScoredSession(one.centred, np.zeros(60)) for one in good]) is None
    same = [ScoredSession(np.zeros(60), one.relevance) for one in good]
    assert fit(same) is None


def test_scores_that_separate_perfectly_leave_a_finite_slope() -> None:
    centred = np.linspace(-1, 1, 20)
    perfect = ScoredSession(centred, (centred > 0.5).astype(np.float64))
    found = fit([perfect] * MIN_SESSIONS)
    assert found is not None
    assert np.isfinite(found.slope)
    assert min(found.of([9.0] + [0.0] * 19)) >= 0
    assert max(found.of([9e9] + [0.0] * 19)) <= 1


def test_it_survives_being_stored() -> None:
    found = LearnedRelevance(-1.0, 2.0, 12)
    assert LearnedRelevance.from_json(found.to_json()) == found
    assert LearnedRelevance.from_json({}) is None
    assert found.of([]) == []
