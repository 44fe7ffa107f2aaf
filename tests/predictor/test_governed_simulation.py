"""The whole life of a predictor with a simulated user: who earns influence, and who does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engram.console.evaluation.simulation.governed import GovernedSession, govern, mix_lessons
from engram.console.evaluation.simulation.life import live
from engram.console.evaluation.simulation.plans import LIFE, PARITY
from engram.console.evaluation.simulation.sessions import Simulator
from predictor.core.governance import Comparison, Governor, Phase


def small(plan):
    return replace(plan, width=32, memories=300, topics=8, projects=3, pool=40)


def oracle(session):
    return session.relevance


def against_the_truth(session):
    return -session.relevance


def test_oracle_leaves_cold_start_and_serves_better_than_the_baseline():
    steps = govern(small(LIFE), 1, sessions=80, fixed=oracle)
    assert steps[0].phase == "collecting"
    assert steps[-1].phase == "active"
    assert steps[-1].alpha < 0.2
    late = steps[-20:]
    assert np.mean([s.served for s in late]) > np.mean([s.baseline for s in late]) + 0.3


def test_worst_ranker_never_gains_influence():
    steps = govern(small(LIFE), 1, sessions=120, fixed=against_the_truth)
    assert {step.alpha for step in steps} == {1.0}
    assert any(step.is_reset for step in steps)
    assert all(step.served == step.baseline for step in steps if not step.is_drafted)
    drafted = [step for step in steps if step.is_drafted]
    assert np.mean([s.served - s.baseline for s in drafted]) < -0.05
    assert len([s for s in steps[-40:] if s.is_drafted]) < 12  # it is drafted ever more rarely


def test_drafted_lists_alone_are_evidence():
    steps = govern(small(LIFE), 1, sessions=80, fixed=oracle)
    compared = [step for step in steps if step.margin is not None]
    assert all(s.is_drafted for s in compared if s.phase == "warming")
    serving = [step for step in compared if step.phase == "active"]
    assert {step.is_drafted for step in serving} == {True, False}
    told = [s.governor.margins.count for s in compared]
    assert told == np.cumsum([s.is_drafted for s in compared]).tolist()


def test_model_earns_influence_where_there_is_something_to_learn():
    steps = govern(small(LIFE), 2, sessions=90)
    assert steps[-1].alpha < 0.5
    trainings = [step.training for step in steps if step.training]
    assert trainings[0] == "first: promoted"
    assert {name.split(":")[0] for name in trainings} == {"first", "interval", "full"}


def test_sessions_without_a_model_are_void():
    steps = govern(small(PARITY), 2, sessions=12)
    assert [step.margin for step in steps[:9]] == [None] * 9


def test_same_seed_lives_the_same_life():
    first, again = (govern(small(LIFE), 3, sessions=30) for _ in range(2))
    assert first == again
    assert all(isinstance(step, GovernedSession) for step in first)


def test_replay_takes_the_best_of_what_lies_behind():
    simulator = Simulator(small(LIFE), 4, sessions=130)
    rng = np.random.default_rng(0)
    lessons = [live(simulator.session(i), LIFE, None, alpha=1.0, rng=rng) for i in range(130)]
    chosen = mix_lessons(lessons)
    assert len(chosen) == 100
    assert chosen[20:] == lessons[-80:]

    def worth(lived):
        return sum(lived.relevance.get(i, 0.0) for i in lived.injected)

    left_out = [one for one in lessons[:50] if one not in chosen]
    assert min(map(worth, chosen[:20])) >= max(map(worth, left_out))


def test_programs_outside_import_comparisons_by_their_documented_name():
    comparison = Comparison(
        margin=0.2, void_reason="", is_scored=True, is_trained=True, is_out_of_sample=True
    )
    after = Governor().update(comparison)
    assert (after.phase, after.scored_sessions, after.out_of_sample) == (Phase.WARMING, 1, 1)
