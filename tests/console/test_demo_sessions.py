"""The sessions of the demo's story: each once and at its own time, whoever is killed."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import Sum

from engram.console.demo import sessions, telling
from engram.console.demo.sessions import BETWEEN_PROMPTS, JUDGED_AFTER
from engram.console.models import Telling
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Session
from predictor import tasks
from predictor.models import Comparison, Judgement, PredictorState, Training, TrainingStatus
from predictor.services.judging import due, judge
from predictor.services.training import turn as training_turn
from predictor.signals import may_work
from tests.conftest import NOW, Tenant, build_tenant

DOG = "Biscuit is the dog of the office."
PROMPTS = ["Is Biscuit the dog of the office?", "Where does Biscuit sleep at noon?"]
TALK = (
    "User: Who is the dog of the office?\nAgent: Biscuit is the dog of the office, and sleeps "
    "under the desk at noon.\nUser: Thank you, that is what I wanted to know about the dog.\n"
) * 5
BEGAN = NOW - timedelta(days=4)
ENDED = BEGAN + 3 * BETWEEN_PROMPTS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    steps: list[dict[str, Any]] = [
        {"do": "commit", "days_ago": 9, "content": DOG, "label": "dog"},
        {"do": "commit", "days_ago": 9, "content": "Biscuit sleeps under the desk at noon."},
        {"do": "commit", "days_ago": 9, "content": "Invoices are sent on the first of a month."},
        {
            "do": "session", "days_ago": 4, "key": "dogs", "agent": "forge",
            "context": "Who is the dog of the office?", "prompts": PROMPTS,
            "feedback": {"dog": 1.0}, "transcript": TALK,
        },
        {"do": "commit", "days_ago": 1, "content": "The ferry sails at noon."},
    ]  # fmt: skip
    story = tmp_path / "story.jsonl"
    story.write_text("".join(json.dumps(step) + "\n" for step in steps))
    return story


@pytest.fixture
def told(tenant: Tenant, path: Path) -> Tenant:
    """Return a workspace whose story begins."""
    tenant.workspace.settings = {"predictor_mode": "on"}
    tenant.workspace.save()
    telling.begin(tenant.workspace, NOW, path=path)
    return tenant


def go_on(tenant: Tenant, path: Path) -> None:
    telling.go_on(tenant.workspace, clock=lambda: NOW, path=path)


def outcome(tenant: Tenant) -> dict[str, Any]:
    with in_workspace(tenant.workspace):
        session, judged = Session.objects.get(), Judgement.objects.get()
        told = Event.objects.filter(type__startswith="session.")
        return {
            "times": (session.started_at, session.ended_at, session.judged_at),
            "prompts": session.prompt_count,
            "feedback": list(session.candidates.values_list("feedback", flat=True)).count(1.0),
            "hits": Memory.objects.aggregate(all=Sum("hit_count"))["all"],
            "given": Memory.objects.aggregate(all=Sum("injected_count"))["all"],
            "judged": (judged.status, judged.judged_at),
            "compared": Comparison.objects.count(),
            "scored": PredictorState.objects.get().scored_sessions,
            "events": sorted(told.values_list("type", flat=True)),
        }


CALLS = [
    ("start_session", 1),
    ("prompt", 1),
    ("prompt", 2),
    ("give_feedback", 1),
    ("end_session", 1),
    ("judge_due", 1),
    ("train_due", 1),
]


def test_session_of_the_story_leaves_what_a_session_leaves(told: Tenant, path: Path) -> None:
    go_on(told, path)
    found = outcome(told)
    assert found["times"] == (BEGAN, ENDED, ENDED + JUDGED_AFTER)
    assert found["judged"] == ("done", ENDED + JUDGED_AFTER)
    assert (found["prompts"], found["feedback"], found["compared"]) == (2, 1, 1)
    assert found["hits"] > 0


@pytest.mark.parametrize(("name", "turn"), CALLS)
@pytest.mark.parametrize("is_done", [True, False])
def test_session_that_was_killed_is_gone_on_with(
    told: Tenant,
    neighbour: Tenant,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    name: str,
    turn: int,
    is_done: bool,
) -> None:
    neighbour.workspace.settings = told.workspace.settings
    neighbour.workspace.save()
    telling.begin(neighbour.workspace, NOW, path=path)
    go_on(neighbour, path)
    calls: list[int] = []
    call = getattr(sessions, name)

    def killed(*arguments: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) != turn:
            return call(*arguments, **named)
        if is_done:
            call(*arguments, **named)
        raise SystemExit

    monkeypatch.setattr(sessions, name, killed)
    with pytest.raises(SystemExit):
        go_on(told, path)
    assert Telling.objects.get(workspace=told.workspace).told == 3
    monkeypatch.setattr(sessions, name, call)
    go_on(told, path)
    assert Telling.objects.get(workspace=told.workspace).finished_at == NOW
    assert outcome(told) == outcome(neighbour)


def test_judge_that_was_killed_holds_nothing_up(
    told: Tenant, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any, **__: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(judge, "settle", killed)
        with pytest.raises(SystemExit):
            go_on(told, path)
    with in_workspace(told.workspace):
        assert Judgement.objects.get().holder is not None
    go_on(told, path)
    assert outcome(told)["judged"] == ("done", ENDED + JUDGED_AFTER)


def test_session_of_somebody_else_is_left_alone(told: Tenant, path: Path) -> None:
    assert told.agent.post("sessions", {"session_key": "dogs"}).status_code == 201
    go_on(told, path)
    with in_workspace(told.workspace):
        theirs = Session.objects.get()
        assert (theirs.ended_at, theirs.prompt_count) == (None, 0)
    assert Telling.objects.get().finished_at == NOW


def test_what_people_do_meanwhile_is_judged_behind_the_story(told: Tenant, path: Path) -> None:
    told.agent.post("memories", {"content": "Tea is at four."})
    told.agent.post("sessions", {"session_key": "own", "context": "When is tea?"})
    told.agent.post("sessions/own/end", {"transcript": TALK})
    assert not may_work(told.workspace.pk)
    with in_workspace(told.workspace):
        held_at = NOW - timedelta(days=5)
        running = Training.objects.create(reason="first", started_at=held_at, heartbeat_at=held_at)
        PredictorState.objects.create(updated_at=held_at, training_due_since=held_at)
    for task in (tasks.judge_workspace, tasks.judge_workspace_by_model, tasks.train_workspace):
        task(str(told.workspace.pk))
    assert (due.overlooked(NOW), training_turn.overlooked(NOW)) == ([], [])
    with in_workspace(told.workspace):
        running.refresh_from_db()
        assert running.status == TrainingStatus.RUNNING
        assert Training.objects.count() == 1
        Training.objects.all().delete()
        PredictorState.objects.all().delete()
        assert Judgement.objects.get().status == "due"

    go_on(told, path)
    with in_workspace(told.workspace):
        assert Judgement.objects.get(session__session_key="own").status == "due"
        assert Judgement.objects.get(session__session_key="dogs").status == "done"
    assert may_work(told.workspace.pk)
    assert due.overlooked(NOW) == [told.workspace]
    tasks.judge_workspace(str(told.workspace.pk))
    with in_workspace(told.workspace):
        told_first = Judgement.objects.order_by("judged_at").values_list(
            "session__session_key", flat=True
        )
        assert list(told_first) == ["dogs", "own"]


def test_each_call_of_a_session_is_a_transaction_of_its_own(
    transactional_db: None, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = build_tenant("busy")
    called: list[str] = []
    for name in dict.fromkeys(name for name, _ in CALLS):
        call = getattr(sessions, name)

        def alone(*arguments: Any, call: Any = call, name: str = name, **named: Any) -> Any:
            assert not connection.in_atomic_block
            called.append(name)
            return call(*arguments, **named)

        monkeypatch.setattr(sessions, name, alone)
    telling.begin(tenant.workspace, NOW, path=path)
    go_on(tenant, path)
    assert Telling.objects.get().finished_at == NOW
    assert set(called) == {name for name, _ in CALLS}
