"""The simulated user: repeatable, with a truth that can be learned where it says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engram.console.evaluation.simulation import curves
from engram.console.evaluation.simulation.life import INJECTED, live, order_of, truth_ndcg
from engram.console.evaluation.simulation.plans import (
    ACROSS,
    DRIFT,
    HABITS,
    LIFE,
    PARITY,
    REPORT,
    REPORT_SEEDS,
    TUNING,
    TUNING_SEEDS,
)
from engram.console.evaluation.simulation.sessions import Simulator
from predictor.core import forward, rankers
from predictor.core.judging import OTHERS

SMALL = replace(HABITS, width=32, memories=300, topics=8, projects=3, pool=40)


class Baseline:
    """Ranks by the baseline's own scores, and learns nothing."""

    def score(self, context, candidates):
        return np.asarray(candidates.baseline, dtype=np.float32)

    def fit(self, sessions, *, rng):
        pass


def small(plan):
    return replace(plan, width=32, memories=300, topics=8, projects=3, pool=40)


def lived(plan, seed, n, *, alpha=1.0):
    simulator = Simulator(plan, seed, sessions=n)
    rng = np.random.default_rng(seed)
    return [live(simulator.session(i), plan, None, alpha=alpha, rng=rng) for i in range(n)]


def test_reports_come_from_worlds_that_nothing_was_tuned_on():
    assert not set(TUNING_SEEDS) & set(REPORT_SEEDS)
    assert REPORT.keys() == TUNING.keys()
    assert all(REPORT[name] != plan for name, plan in TUNING.items())


def test_session_is_the_same_in_any_order_of_asking():
    first, second = (Simulator(SMALL, 3, sessions=20) for _ in range(2))
    forwards = [first.session(i) for i in range(4)]
    backwards = [second.session(i) for i in reversed(range(4))][::-1]
    for one, other in zip(forwards, backwards, strict=True):
        assert one.ids.tolist() == other.ids.tolist()
        assert one.relevance.tolist() == other.relevance.tolist()
        assert one.candidates.signals.tolist() == other.candidates.signals.tolist()


def test_seeds_are_different_worlds():
    one, other = (Simulator(SMALL, seed, sessions=4).session(0) for seed in (1, 2))
    assert one.context.embedding.tolist() != other.context.embedding.tolist()


def test_pool_stands_in_the_baselines_order_and_holds_nothing_of_the_future():
    simulator = Simulator(small(LIFE), 5, sessions=40)
    for index in (0, 13, 39):
        session = simulator.session(index)
        assert len(session.ids) == len(set(session.ids.tolist())) == 40
        assert sorted(session.baseline, reverse=True) == session.baseline.tolist()
        assert simulator.world.memories.created[session.ids].max() < index // 4 + 1
        assert np.allclose(
            np.linalg.norm(session.candidates.embeddings, axis=1), session.candidates.is_embedded
        )
        assert session.candidates.is_injected is None


def test_text_only_memories_have_words_and_no_embedding():
    session = Simulator(small(LIFE), 5, sessions=4).session(0)
    bare = np.flatnonzero(~session.candidates.is_embedded)
    assert len(bare) > 0
    assert not session.candidates.embeddings[bare].any()
    assert all(len(session.candidates.token_buckets[i]) > 0 for i in bare)


def test_share_of_relevant_memories_is_the_plans():
    simulator = Simulator(SMALL, 2, sessions=60)
    relevance = np.concatenate([simulator.session(i).relevance for i in range(60)])
    assert 0.09 < np.mean(relevance >= 0.5) < 0.11
    assert relevance.min() == 0
    assert relevance.max() <= 1


def test_what_was_injected_the_top_tens_and_ten_others_are_judged_as_in_life():
    session = Simulator(small(LIFE), 7, sessions=4).session(1)
    scores = np.random.default_rng(0).normal(size=len(session.ids))
    one = live(session, LIFE, scores, alpha=0.5, rng=np.random.default_rng(1))
    assert len(one.injected) == INJECTED
    assert one.predictor_order == order_of(scores)
    certain = {*range(10), *one.predictor_order[:10], *one.injected}
    assert certain < set(one.relevance)
    assert len(one.relevance) == len(certain) + OTHERS


def test_whole_pool_is_judged_in_the_prototypes_worlds():
    (one,) = lived(SMALL, 7, 1)
    assert list(one.relevance) == list(range(40))


def test_session_of_an_unsure_judge_teaches_nothing():
    sessions = lived(SMALL, 1, 60)
    assert {one.labelled is None for one in sessions} == {True, False}
    assert all((one.labelled is None) == (one.confidence < 0.6) for one in sessions)


def test_labels_follow_the_truth_and_fall_short_of_it_where_nobody_looked():
    sessions = [one for one in lived(small(LIFE), 1, 60) if one.labelled is not None]
    told, shown_gap, unseen_gap = [], [], []
    for one in sessions:
        chosen = one.labelled.candidates
        places = [one.session.baseline.tolist().index(row) for row in chosen.baseline]
        for place, label, injected in zip(
            places, one.labelled.labels, chosen.is_injected, strict=True
        ):
            worth = one.session.relevance[place]
            if injected:
                told.append((worth, label))
            if worth > 0.6:
                (shown_gap if injected else unseen_gap).append(label - worth)
    assert np.corrcoef(np.array(told).T)[0, 1] > 0.8
    assert abs(np.mean(shown_gap)) < 0.1
    assert np.mean(unseen_gap) < -0.2


def test_superseded_members_are_worth_less():
    simulator = Simulator(SMALL, 4, sessions=80)
    replaced, standing = [], []
    for index in range(80):
        session = simulator.session(index)
        is_old = session.candidates.signals[:, 11] > 0
        replaced += session.relevance[is_old].tolist()
        standing += session.relevance[~is_old].tolist()
    assert len(replaced) > 20
    assert np.mean(replaced) < np.mean(standing)


def test_habits_change_at_the_drift_and_not_before():
    plan = replace(small(DRIFT), drifts_at=10)
    drifting = Simulator(plan, 6, sessions=20)
    steady = Simulator(replace(plan, drifts_at=None), 6, sessions=20)
    assert drifting.session(9).ids.tolist() == steady.session(9).ids.tolist()
    assert drifting.world.habits_at(9) is not drifting.world.habits_at(10)
    kind = drifting.world.memories.kind
    before, after = drifting.session(9), drifting.session(10)
    assert np.corrcoef(kind[before.ids], before.knowable)[0, 1] > 0.3
    assert np.corrcoef(kind[after.ids], after.knowable)[0, 1] < -0.3


def test_nothing_can_be_known_at_parity():
    simulator = Simulator(small(PARITY), 8, sessions=60)
    sessions = [simulator.session(i) for i in range(60)]
    found = curves.bounds(sessions, np.random.default_rng(0))
    assert np.ptp([s.knowable.max() - s.knowable.min() for s in sessions]) == 0
    assert abs(np.mean(found["baseline"]) - np.mean(found["random"])) < 0.06
    assert found["oracle"] == pytest.approx([1.0] * 60)


def test_bounds_stand_in_their_order_where_there_is_something_to_learn():
    for plan in (SMALL, small(ACROSS)):
        simulator = Simulator(plan, 8, sessions=60)
        sessions = [simulator.session(i) for i in range(60)]
        found = {
            name: np.mean(values)
            for name, values in curves.bounds(sessions, np.random.default_rng(0)).items()
        }
        assert found["random"] < found["habits known"] - 0.2
        assert found["baseline"] < found["habits known"] - 0.2
        assert found["habits known"] < found["oracle"] == pytest.approx(1.0)


def test_curves_measure_each_ranker_on_the_same_tests():
    makers = {
        "model": lambda known, rng: rankers.model(known.embeddings, known.texts, rng=rng),
        "ridge": lambda known, rng: rankers.ridge(known.embeddings, known.texts, rng=rng),
        "baseline": lambda known, rng: Baseline(),
    }
    steps = []
    found = curves.run(SMALL, 9, makers, checkpoints=(0, 40), tests=20, advance=steps.append)
    again = curves.run(SMALL, 9, makers, checkpoints=(0, 40), tests=20)
    assert found.learned == again.learned
    assert len(steps) == 6
    assert found.learned["baseline"] == dict.fromkeys((0, 40), found.bounds["baseline"])
    learned = {name: np.mean(by[40]) for name, by in found.learned.items()}
    assert min(learned["model"], learned["ridge"]) > learned["baseline"] + 0.1


def test_truth_asks_for_something_relevant():
    session = Simulator(SMALL, 1, sessions=4).session(0)
    with pytest.raises(ValueError, match="gain"):
        truth_ndcg(replace(session, relevance=np.zeros(len(session.ids))), [0])


@pytest.mark.parametrize("name", TUNING)
def test_untrained_model_is_the_baseline_in_every_world(name):
    makers = {
        "model": lambda known, rng: rankers.model(known.embeddings, known.texts, rng=rng),
        "ridge": lambda known, rng: rankers.ridge(known.embeddings, known.texts, rng=rng),
    }
    for seed in TUNING_SEEDS[:2]:
        found = curves.run(small(TUNING[name]), seed, makers, checkpoints=(0,), tests=20)
        assert found.learned["model"][0] == found.learned["ridge"][0] == found.bounds["baseline"]


def test_nearness_rises_steeply_and_what_is_no_cosine_is_bounded():
    near = forward.nearness_of(np.array([0.0, 0.4, 0.8, 1.0, 7.0]))
    assert near[:, 0].tolist() == [0.0, 0.4, 0.8, 1.0, 7.0]
    assert near[:, 1].tolist() == pytest.approx([0.0, 0.079, 0.471, 1.072, 1.072], abs=1e-3)
