"""Sessions over HTTP with the predictor behind them: what it adds, and life without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.test import TestCase

from engram.kernel.models import StageError
from engram.kernel.tenancy import in_workspace
from memories.models import Session, SessionCandidate
from predictor.core.governance import Phase
from predictor.models import Judgement, PredictorState
from predictor.services.serving import served
from predictor.services.serving.served import ModelCache
from tests.conftest import Tenant
from tests.predictor.core.worlds import sessions_of
from tests.predictor.serving import configure, promote, scorer
from tests.predictor.test_rank_session import Raising, Saying, serve_stand_in

WIDTH = 384  # of the built-in embedding model
FACTS = [
    ("The invoice service listens on port 8443.", 0.9),
    ("Backups of the database run at two in the morning.", 0.7),
    ("Refunds need the approval of the shift lead.", 0.5),
    ("The office dog is called Biscuit.", 0.3),
]


@pytest.fixture(autouse=True)
def nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with no model in memory, as a new process does."""
    monkeypatch.setattr(served, "cache", ModelCache())


@pytest.fixture
def filled(tenant: Tenant) -> Tenant:
    for content, importance in FACTS:
        body = {"content": content, "importance": importance, "scope": content.split()[1]}
        assert tenant.agent.post("memories", body).status_code == 201
    return tenant


def start(tenant: Tenant, key: str, **others: Any) -> dict[str, Any]:
    """Start a session, commit it, and return the answer."""
    body = {"session_key": key, "context": "who may approve a refund?", **others}
    with TestCase.captureOnCommitCallbacks(execute=True):
        answer = tenant.agent.post("sessions", body)
    assert answer.status_code == 201
    told: dict[str, Any] = answer.json()
    return told


def ids(told: dict[str, Any]) -> list[str]:
    return [memory["id"] for memory in told["memories"]]


def records(tenant: Tenant, key: str) -> list[SessionCandidate]:
    with in_workspace(tenant.workspace):
        return list(SessionCandidate.objects.filter(session__session_key=key).order_by("rank"))


def test_off_leaves_no_residue(filled: Tenant) -> None:
    promote(filled.workspace, scorer(width=WIDTH).to_bytes(), phase=Phase.ACTIVE)
    with in_workspace(filled.workspace):
        PredictorState.objects.all().delete()
    configure(filled.workspace, predictor_mode="off")
    told = start(filled, "off")
    filled.agent.post("sessions/off/end", {"transcript": "We spoke of refunds. " * 60})

    assert told["status_line"] == ""
    with in_workspace(filled.workspace):
        session = Session.objects.get()
        assert (session.phase, session.has_opinion, session.alpha) == ("", False, 1.0)
        assert (session.model_version, session.no_opinion_reason) == (None, "")
        assert not PredictorState.objects.exists()
        assert not Judgement.objects.exists()
        assert not StageError.objects.exists()
    for row in records(filled, "off"):
        assert (row.signals, row.predictor_score, row.predictor_rank) == ([], None, None)
        assert row.linear_score is None


def test_collecting_records_signals_and_leaves_the_order(filled: Tenant) -> None:
    configure(filled.workspace, predictor_mode="off")
    without = start(filled, "off")
    configure(filled.workspace, predictor_mode="collect")
    told = start(filled, "collect")

    assert ids(told) == ids(without)
    assert told["status_line"] == "[predictor: collecting | 0/10 sessions | baseline only]"
    assert {len(row.signals) for row in records(filled, "collect")} == {12}


@pytest.mark.parametrize(
    ("ranker", "reason"),
    [(Raising(), "crash"), (Saying([float("nan")] * 4), "parse_error"), (None, "checkpoint_error")],
)
def test_whatever_fails_the_baselines_order_serves(
    filled: Tenant, ranker: Any, reason: str
) -> None:
    configure(filled.workspace, predictor_mode="off")
    without = start(filled, "off")
    workspace = configure(filled.workspace, predictor_mode="on", exploration_rate=1.0)
    promote(workspace, b"SGPT broken", phase=Phase.ACTIVE)
    if ranker is not None:
        serve_stand_in(workspace, ranker, width=WIDTH)
    told = start(filled, "on")

    assert ids(told) == ids(without)
    assert [m["score"] for m in told["memories"]] == [m["score"] for m in without["memories"]]
    with in_workspace(workspace):
        session = Session.objects.get(session_key="on")
        assert (session.has_opinion, session.no_opinion_reason) == (False, reason)
        assert StageError.objects.count() == 1


def test_a_promoted_model_takes_part_in_the_next_session(filled: Tenant) -> None:
    configure(filled.workspace, predictor_mode="on")
    before = start(filled, "before")
    workspace = configure(filled.workspace, predictor_mode="on", exploration_rate=0.0)
    promote(workspace, scorer(width=WIDTH).to_bytes(), number=7, phase=Phase.ACTIVE)
    told = start(filled, "after")

    assert "collecting" in before["status_line"]
    assert told["status_line"].startswith("[predictor: active | ")
    rows = records(filled, "after")
    assert sorted(row.predictor_rank or 0 for row in rows) == [1, 2, 3, 4]
    with in_workspace(workspace):
        session = Session.objects.get(session_key="after")
        assert (session.has_opinion, session.model_version) == (True, 7)
        assert session.alpha == PredictorState.objects.get().alpha < 1
        assert Session.objects.get(session_key="before").model_version is None
    audit = filled.reader.get("predictor/audit/after").json()
    assert {m["predictor_rank"] for m in audit["memories"]} == {1, 2, 3, 4}
    assert audit["session"]["model_version"] == 7


def test_the_scores_of_the_linear_ranking_are_recorded(filled: Tenant) -> None:
    workspace = configure(filled.workspace, predictor_mode="on", exploration_rate=0.0)
    learned = scorer(width=WIDTH)
    rng = np.random.default_rng(2)
    learned.fit(sessions_of(np.random.default_rng(1), 12, native=WIDTH), rng=rng)
    promote(workspace, learned.to_bytes(), phase=Phase.ACTIVE)
    start(filled, "s")
    rows = {str(row.memory_id): row for row in records(filled, "s")}
    stored = {i: row.linear_score for i, row in rows.items()}
    assert None not in stored.values()
    assert len(set(stored.values())) == 4
    assert stored != {i: row.predictor_score for i, row in rows.items()}
    audit = filled.reader.get("predictor/audit/s").json()["memories"]
    assert {one["id"]: one["linear_score"] for one in audit} == stored
    told = filled.reader.get("sessions/s").json()["records"]
    assert {one["memory_id"]: one["linear_score"] for one in told} == stored


def test_a_ranker_that_says_the_opposite_turns_the_order(filled: Tenant) -> None:
    workspace = configure(filled.workspace, predictor_mode="on", exploration_rate=0.0)
    promote(workspace, phase=Phase.ACTIVE)
    serve_stand_in(workspace, Saying([0.0, 0.1, 0.2, 0.3]), width=WIDTH)
    start(filled, "turned")
    rows = records(filled, "turned")

    assert [row.predictor_rank for row in rows] == [1, 2, 3, 4]
    assert [row.baseline_rank for row in rows] == [4, 3, 2, 1]
