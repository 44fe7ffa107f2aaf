"""Ranking at session start; after any failure the baseline's order is served."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from django.db import connection
from django.test import TestCase
from django.test.utils import CaptureQueriesContext

from engram.kernel.models import Event, StageError
from engram.kernel.tenancy import in_workspace
from memories.services.sessions.ranker_hook import RankerAnswer
from predictor.core.governance import Phase
from predictor.core.learned_relevance import LearnedRelevance
from predictor.core.types import FEATURE_VERSION, SIGNALS
from predictor.models import ModelVersion, PredictorState, TrainingStatus
from predictor.services.serving import served
from predictor.services.serving.rank_session import rank_session
from predictor.services.serving.served import ModelCache, ServedModel
from tests.conftest import NOW, Tenant
from tests.homes import PATIENCE_SECONDS
from tests.predictor.core.worlds import sessions_of
from tests.predictor.judged import build_world, lease_in
from tests.predictor.serving import (
    WIDTH,
    configure,
    facts,
    make_request,
    minutes,
    promote,
    scorer,
    state,
)
from tests.predictor.test_train import run, trained


@pytest.fixture(autouse=True)
def nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with no model in memory, as a new process does."""
    monkeypatch.setattr(served, "cache", ModelCache())


def rank_committed(workspace, *args, **others) -> RankerAnswer:
    """Rank a session that starts, and commit; return the answer."""
    with TestCase.captureOnCommitCallbacks(execute=True), in_workspace(workspace):
        return rank_session(make_request(workspace, *args, **others))


def errors(workspace) -> list[str]:
    with in_workspace(workspace):
        return list(StageError.objects.order_by("pk").values_list("code", flat=True))


def serve_stand_in(workspace, ranker, *, width: int = WIDTH) -> None:
    """Serve a ranker that is no model of ours, as if it had been read from the database."""
    served.cache.put(workspace.pk, ServedModel(1, workspace.embedding_model, width, ranker))


class StandIn:
    """A ranker that prepares nothing and has no linear part."""

    def prepare(self, candidates):
        return candidates

    def linear_scores(self, context, candidates):
        return None


class Raising(StandIn):
    def score(self, context, candidates):
        raise ZeroDivisionError("the text of a memory")


class Stalled(StandIn):
    """Answers only when it is let go."""

    def __init__(self):
        self.go_on = threading.Event()

    def score(self, context, candidates):
        self.go_on.wait(PATIENCE_SECONDS)
        return np.zeros(len(candidates))


class Saying(StandIn):
    def __init__(self, scores):
        self.scores = scores

    def score(self, context, candidates):
        return np.asarray(self.scores)


def test_off_says_and_leaves_nothing(tenant: Tenant) -> None:
    promote(tenant.workspace, phase=Phase.ACTIVE)
    workspace = configure(tenant.workspace, predictor_mode="off")

    with (
        CaptureQueriesContext(
            connection,
        ) as queries,
        in_workspace(workspace),
    ):
        before = len(queries)
        found = rank_session(make_request(workspace))
        asked_of_database = len(queries) - before

    assert found == RankerAnswer()
    assert asked_of_database == 0


def test_before_the_first_model_signals_are_kept_and_nothing_is_scored(tenant: Tenant) -> None:
    found = rank_committed(tenant.workspace)

    assert found.scores == {}
    assert found.alpha == 1.0
    assert found.no_opinion_reason == "no_model"
    assert found.status_line == "[predictor: collecting | 0/10 sessions | baseline only]"
    assert list(found.signals) == [fact.id for fact in facts(8)]
    assert {len(row) for row in found.signals.values()} == {len(SIGNALS)}
    with in_workspace(tenant.workspace):
        assert not PredictorState.objects.exists()


def test_scores_are_those_of_the_promoted_model(tenant: Tenant) -> None:
    promote(tenant.workspace)
    ours = rank_committed(tenant.workspace, candidates=facts(6, text_only=2))
    again = rank_committed(tenant.workspace, candidates=facts(6, text_only=2)[::-1])

    assert ours.model_version == 1
    assert len(set(ours.scores.values())) == 6
    assert again.scores == pytest.approx(ours.scores, rel=1e-4)


def test_a_trained_model_tells_the_scores_of_its_linear_ranking_too(tenant: Tenant) -> None:
    promote(tenant.workspace)
    assert rank_committed(tenant.workspace).linear == {}  # nothing was learned yet
    learned = scorer()
    learned.fit(
        sessions_of(np.random.default_rng(1), 12, native=WIDTH), rng=np.random.default_rng(2)
    )
    promote(tenant.workspace, learned.to_bytes(), number=2)
    found = rank_committed(tenant.workspace)
    assert found.linear.keys() == found.scores.keys()
    assert len(set(found.linear.values())) > 1
    assert found.linear != pytest.approx(found.scores)


def test_relevance_is_told_once_it_was_learned(tenant: Tenant) -> None:
    promote(tenant.workspace)
    assert rank_committed(tenant.workspace).relevance == {}
    with in_workspace(tenant.workspace):
        learned = LearnedRelevance(intercept=-1.0, slope=3.0, sessions=12)
        PredictorState.objects.update(relevance=learned.to_json())
    found = rank_committed(tenant.workspace)
    assert found.relevance.keys() == found.scores.keys()
    by_score = sorted(found.scores, key=lambda one: found.scores[one])
    assert by_score == sorted(found.relevance, key=lambda one: found.relevance[one])


def test_a_model_that_has_learned_nothing_ranks_as_the_baseline_does(tenant: Tenant) -> None:
    promote(tenant.workspace)
    told = facts(8)
    order = np.random.default_rng(3).permutation(8)
    told = [
        replace(fact, baseline_score=1 / (place + 1))
        for fact, place in zip(told, order.tolist(), strict=True)
    ]
    found = rank_committed(tenant.workspace, candidates=told)
    wanted = sorted(told, key=lambda fact: -fact.baseline_score)
    assert sorted(found.scores, key=lambda key: -found.scores[key]) == [one.id for one in wanted]


def test_a_promotion_is_seen_by_the_next_session(tenant: Tenant) -> None:
    promote(tenant.workspace, scorer(seed=1).as_base().to_bytes())
    first = rank_committed(tenant.workspace)
    promote(tenant.workspace, scorer(seed=5).as_base().to_bytes(), number=2)
    second = rank_committed(tenant.workspace)

    assert (first.model_version, second.model_version) == (1, 2)
    assert first.scores != second.scores


def test_weights_are_read_once_a_version(tenant: Tenant) -> None:
    promote(tenant.workspace)
    rank_committed(tenant.workspace)
    with CaptureQueriesContext(connection) as queries:
        rank_committed(tenant.workspace)

    assert not [q for q in queries if "modelversion" in q["sql"]]


def test_a_neighbours_model_is_never_used(tenant: Tenant, neighbour: Tenant) -> None:
    promote(neighbour.workspace, phase=Phase.ACTIVE)
    rank_committed(neighbour.workspace)

    assert rank_committed(tenant.workspace).no_opinion_reason == "no_model"


@pytest.mark.parametrize(
    ("mode", "phase", "has_influence"),
    [
        ("collect", Phase.ACTIVE, False),
        ("collect", Phase.WARMING, False),
        ("on", Phase.WARMING, False),
        ("on", Phase.RETRAINING, False),
        ("on", Phase.RAMP, True),
        ("on", Phase.ACTIVE, True),
    ],
)
def test_influence_is_earned_and_allowed(tenant: Tenant, mode, phase, has_influence) -> None:
    promote(tenant.workspace, phase=phase)
    workspace = configure(tenant.workspace, predictor_mode=mode, exploration_rate=0.2, rrf_k=20)
    found = rank_committed(workspace)

    assert len(found.scores) == 8
    assert found.phase == phase
    assert found.rrf_k == 20
    assert found.alpha == (state(workspace).alpha if has_influence else 1.0)
    assert (found.alpha < 1.0) == has_influence
    assert found.exploration_rate == (0.2 if has_influence else 0.0)


def test_status_lines_are_those_of_the_contract(tenant: Tenant) -> None:
    workspace = configure(tenant.workspace, predictor_mode="on")
    promote(workspace, phase=Phase.WARMING)
    assert rank_committed(workspace).status_line == (
        "[predictor: warming | success_rate=0.50 | model_v1 | baseline only]"
    )
    promote(workspace, number=3, phase=Phase.ACTIVE)
    now = state(workspace)
    assert rank_committed(workspace).status_line == (
        f"[predictor: active | success_rate={now.success_rate:.2f} | α={now.alpha:.2f} "
        f"| model_v3 | {now.scored_sessions} sessions]"
    )
    promote(workspace, number=4, phase=Phase.RETRAINING)
    assert rank_committed(workspace).status_line == (
        "[predictor: retraining | drift detected | baseline fallback]"
    )
    collecting = configure(workspace, predictor_mode="collect")
    promote(collecting, number=5, phase=Phase.ACTIVE)
    assert rank_committed(collecting).status_line.endswith("model_v5 | baseline only]")


@pytest.mark.parametrize(
    ("ranker", "code", "reason"),
    [
        (Raising(), "predictor_crash", "crash"),
        (Saying([0.5, float("nan"), *[0.1] * 6]), "predictor_parse_error", "parse_error"),
        (Saying([float("inf")] * 8), "predictor_parse_error", "parse_error"),
        (Saying([0.5] * 7), "predictor_parse_error", "parse_error"),
        (Saying([[0.5]] * 8), "predictor_parse_error", "parse_error"),
        (Saying(["high"] * 8), "predictor_crash", "crash"),
    ],
)
def test_what_fails_leaves_the_baseline_and_is_counted(tenant, ranker, code, reason) -> None:
    workspace = configure(tenant.workspace, predictor_mode="on")
    promote(workspace, phase=Phase.ACTIVE)
    serve_stand_in(workspace, ranker)
    found = rank_committed(workspace)

    assert (found.scores, found.alpha, found.model_version) == ({}, 1.0, None)
    assert (found.no_opinion_reason, found.exploration_rate) == (reason, 0.0)
    assert len(found.signals) == 8
    assert errors(workspace) == [code]
    assert "α=1.00" in found.status_line
    with in_workspace(workspace):
        assert "memory" not in StageError.objects.get().detail


def test_wrong_widths_are_counted_and_never_filled_up(tenant: Tenant) -> None:  # pitfall 31
    promote(tenant.workspace)
    narrow = replace(facts(1)[0], vector=np.ones(1, dtype=np.float32))
    for others in (
        {"candidates": [narrow, *facts(8)[1:]]},
        {"candidates": facts(8, width=WIDTH + 1)},
        {"context": np.ones(WIDTH - 1, dtype=np.float32)},
    ):
        found = rank_committed(tenant.workspace, **others)
        assert (found.scores, found.no_opinion_reason) == ({}, "parse_error") or (
            found.no_opinion_reason == "disabled"
        )
    assert errors(tenant.workspace) == ["predictor_parse_error"] * 3


def test_a_stalled_scorer_holds_up_no_session(tenant: Tenant) -> None:  # pitfall 35
    workspace = configure(tenant.workspace, predictor_mode="on", score_timeout_ms=40)
    promote(workspace, phase=Phase.ACTIVE)
    stalled = Stalled()
    serve_stand_in(workspace, stalled)
    found = rank_committed(workspace)  # while the scorer still stands
    stalled.go_on.set()

    assert (found.scores, found.alpha, found.no_opinion_reason) == ({}, 1.0, "timeout")
    assert errors(workspace) == ["predictor_timeout"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "other", "gone", "no_row"])
def test_a_corrupt_checkpoint_is_a_cold_start(tenant: Tenant, damage: str) -> None:  # pitfall 38
    workspace = configure(tenant.workspace, predictor_mode="on")
    version = promote(workspace, phase=Phase.ACTIVE)
    raw = version.checkpoint
    damaged = {
        "cut": raw[:-1],
        "flipped": raw[:-3] + bytes([raw[-3] ^ 1]) + raw[-2:],
        "other": b"MZ" + raw,
        "gone": None,
    }
    with in_workspace(workspace):
        if damage == "no_row":
            version.delete()
        else:
            version.checkpoint = damaged[damage]
            version.save()
    found = rank_committed(workspace)

    assert (found.scores, found.alpha) == ({}, 1.0)
    assert found.no_opinion_reason == "checkpoint_error"
    assert found.status_line == "[predictor: collecting | 0/10 sessions | baseline only]"
    assert errors(workspace) == ["predictor_checkpoint_error"]
    now = state(workspace)
    assert (now.served, now.phase, now.alpha, now.last_version) == (None, "collecting", 1.0, 1)
    with in_workspace(workspace):
        told = Event.objects.get(type="predictor.reset")
        assert told.data == {"reason": "checkpoint_error", "version": 1}
    assert rank_committed(workspace).no_opinion_reason == "no_model"
    assert len(errors(workspace)) == 1


@pytest.mark.parametrize(("least", "is_due"), [(10, True), (31, False)])
def test_corrupt_weights_are_learned_anew_at_once_from_what_is_there(
    tenant: Tenant, least: int, is_due: bool
) -> None:
    build_world(tenant.workspace, 30)
    trained(tenant.workspace)
    workspace = configure(tenant.workspace, min_training_sessions=least)
    with in_workspace(workspace):
        ModelVersion.objects.update(checkpoint=b"SGPT and nothing else")
    assert rank_committed(workspace).no_opinion_reason == "checkpoint_error"
    begun = state(workspace)
    assert (begun.served, lease_in(workspace).due_at is not None) == (None, is_due)
    training = run(workspace)
    assert (training is not None) == is_due
    if training is not None:
        assert (training.reason, training.status) == ("first", TrainingStatus.PROMOTED)
        assert (state(workspace).served, state(workspace).phase) == (2, "warming")


def test_a_model_of_other_vectors_is_left_alone(tenant: Tenant) -> None:
    promote(tenant.workspace, embedding_model="another")
    found = rank_committed(tenant.workspace)

    assert (found.scores, found.no_opinion_reason) == ({}, "other_embedding")
    assert "baseline only" in found.status_line
    assert errors(tenant.workspace) == []
    assert state(tenant.workspace).served == 1


def test_a_model_of_other_features_is_left_alone(tenant: Tenant) -> None:
    promote(tenant.workspace, feature_version=FEATURE_VERSION + 1, checkpoint=b"newer")

    assert rank_committed(tenant.workspace).no_opinion_reason == "other_embedding"
    assert state(tenant.workspace).served == 1


def test_three_failures_in_an_hour_switch_scoring_off(tenant: Tenant) -> None:
    workspace = configure(tenant.workspace, predictor_mode="on")
    promote(workspace, phase=Phase.ACTIVE)
    serve_stand_in(workspace, Raising())
    lines = [rank_committed(workspace, now=NOW + minutes(20 * n)).status_line for n in range(3)]
    serve_stand_in(workspace, Saying([0.1] * 8))
    still = rank_committed(workspace, now=NOW + minutes(99))
    later = rank_committed(workspace, now=NOW + minutes(101))

    last = rank_committed(workspace, now=NOW + minutes(41)).status_line
    disabled = "[predictor: disabled | failures=3/h | baseline fallback]"
    assert [line == disabled for line in lines] == [False, False, False]
    assert last == disabled
    assert (still.status_line, still.no_opinion_reason) == (disabled, "disabled")
    assert (still.scores, still.alpha, len(still.signals)) == ({}, 1.0, 8)
    assert len(later.scores) == 8
    with in_workspace(workspace):
        assert Event.objects.filter(type="predictor.disabled").count() == 1


class Growing(list):
    """Candidates that are one more whenever they are gone through: no signals fit them."""

    def __iter__(self):
        self.append(self[0])
        return super().__iter__()


@pytest.mark.parametrize(
    ("part", "code", "reason"),
    [
        ("signals", "predictor_parse_error", "parse_error"),
        ("weight", "predictor_parse_error", "parse_error"),
        ("state", "predictor_crash", "crash"),
    ],
)
def test_what_fails_beside_the_scores_switches_scoring_off_too(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, part: str, code: str, reason: str
) -> None:
    workspace = configure(tenant.workspace, predictor_mode="on")
    promote(workspace, phase=Phase.ACTIVE)
    workspace = configure(workspace, predictor_mode="on")

    def start(at) -> RankerAnswer:
        candidates = Growing(facts(8)) if part == "signals" else facts(8)
        return rank_committed(workspace, now=at, candidates=candidates)

    if part == "weight":
        with in_workspace(workspace):
            PredictorState.objects.update(alpha=-0.5)
    with monkeypatch.context() as broken:
        if part == "state":
            broken.setattr("predictor.services.serving.rank_session.serving_state", lambda: 1 / 0)
        found = [start(NOW + minutes(n)) for n in range(3)]

    assert {(one.no_opinion_reason, one.alpha, len(one.scores)) for one in found} == {
        (reason, 1.0, 0)
    }
    assert errors(workspace) == [code] * 3
    assert state(workspace).disabled_until == NOW + minutes(62)
    disabled = "[predictor: disabled | failures=3/h | baseline fallback]"
    assert start(NOW + minutes(3)).status_line == disabled


def test_failures_far_apart_switch_nothing_off(tenant: Tenant) -> None:
    promote(tenant.workspace)
    serve_stand_in(tenant.workspace, Raising())
    for n in range(5):
        found = rank_committed(tenant.workspace, now=NOW + minutes(31 * n))
        assert found.no_opinion_reason == "crash"
    assert len(errors(tenant.workspace)) == 5


def test_nothing_to_rank_is_no_failure(tenant: Tenant) -> None:
    promote(tenant.workspace)
    found = rank_committed(tenant.workspace, candidates=[])

    assert (found.scores, found.signals, found.no_opinion_reason) == ({}, {}, "nothing_to_rank")
    assert errors(tenant.workspace) == []


def test_a_session_without_context_or_past_is_scored(tenant: Tenant) -> None:
    promote(tenant.workspace)
    found = rank_committed(tenant.workspace, context=None, gap_hours=None, project="")

    assert len(found.scores) == 8
