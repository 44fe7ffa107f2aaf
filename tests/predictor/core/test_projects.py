"""How much is learned of what is of use in one project only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.core import projects
from predictor.core.metrics import ndcg
from predictor.core.recipe import Recipe
from predictor.core.scorer import Scorer
from tests.predictor.core.worlds import sessions_of, unit

NATIVE = 24
WIDE, NARROW = projects.PENALTIES[0], projects.PENALTIES[-1]


def world(seed: int, count: int, *, own: float, noise: float):
    """Draw sessions of four projects, of which each wants a direction of its own, or none."""
    rng = np.random.default_rng(seed)
    wanted = unit(np.random.default_rng(99).standard_normal((4, NATIVE)))
    found = []
    for number, session in enumerate(sessions_of(rng, count, n=40)):
        slot = number % 4
        wish = own * 4 * session.candidates.embeddings @ wanted[slot]
        labels = np.clip(0.3 + wish + noise * rng.standard_normal(40), 0, 1)
        context = replace(session.context, project_slot=slot)
        known = np.ones(40, dtype=bool)
        candidates = replace(session.candidates, is_embedded=known)
        found.append(replace(session, context=context, candidates=candidates, labels=labels))
    return found


def chosen(monkeypatch: pytest.MonkeyPatch, sessions) -> float:
    """Return the penalty that a training chooses."""
    kept: list[float] = []
    choose = projects._choose

    def note(*given):
        kept.append(choose(*given))
        return kept[-1]

    monkeypatch.setattr(projects, "_choose", note)
    trained(sessions)
    return kept[0]


def trained(sessions, penalties=projects.PENALTIES) -> Scorer:
    rng = np.random.default_rng(1)
    recipe = Recipe(project_penalties=penalties)
    scorer = Scorer.initial(recipe, unit(rng.standard_normal((60, NATIVE))), rng=rng)
    scorer.fit(sessions, rng=rng, epochs=3)
    return scorer


def quality(scorer: Scorer, sessions) -> float:
    values = []
    for session in sessions:
        order = np.argsort(-scorer.score(session.context, session.candidates), kind="stable")
        values.append(ndcg(order.tolist(), dict(enumerate(session.labels.tolist()))))
    return float(np.mean(values))


def test_projects_that_differ_are_learned_from_few_sessions(monkeypatch) -> None:
    sessions = world(1, 40, own=0.5, noise=0.05)
    assert chosen(monkeypatch, sessions) < WIDE
    new = world(2, 40, own=0.5, noise=0.05)
    cautious = quality(trained(sessions, (WIDE,)), new)
    assert quality(trained(sessions), new) > cautious + 0.01


def test_projects_that_do_not_differ_are_left_alone(monkeypatch) -> None:
    assert chosen(monkeypatch, world(3, 40, own=0.0, noise=0.3)) == WIDE


def test_too_few_sessions_choose_nothing(monkeypatch) -> None:
    few = world(1, 2 * projects.FOLDS - 1, own=0.5, noise=0.05)
    assert chosen(monkeypatch, few) == WIDE
