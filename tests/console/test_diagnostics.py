"""How well the parts do: the formula of the predictor by a table, the others by what they show."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import DetectionDue, DetectionRun
from engram.console.diagnostics import parts
from engram.console.diagnostics.diagnose import Diagnosis, diagnose
from engram.console.diagnostics.domain import DOMAINS, Domain, status_of
from engram.console.diagnostics.predictor import Signs, score
from engram.console.icons import PATHS
from engram.kernel import heartbeat, latency, telemetry
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.services import change_settings
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Session
from predictor.core.governance import Governor
from predictor.models import (
    CalibrationItem,
    CalibrationSample,
    Comparison,
    Judgement,
    Label,
    PredictorState,
    Training,
)
from tests.conftest import Tenant

SERVING = Signs(is_worker_alive=True, is_disabled=False, is_serving=True, success_rate=0.5)

FORMULA: list[tuple[str, Signs, float, str]] = [
    ("the worker is gone", replace(SERVING, is_worker_alive=False), 0.0, "unhealthy"),
    ("the breaker is open", replace(SERVING, is_disabled=True), 0.0, "unhealthy"),
    ("gone, slow, drifting", Signs(False, True, False, 0.9, True, True), 0.0, "unhealthy"),
    ("cold start", replace(SERVING, is_serving=False), 0.6, "degraded"),
    ("cold start, rate 1", replace(SERVING, is_serving=False, success_rate=1), 0.6, "degraded"),
    ("serving at .5", SERVING, 0.9, "healthy"),
    ("serving at 1", replace(SERVING, success_rate=1.0), 1.0, "healthy"),
    ("serving at .41", replace(SERVING, success_rate=0.41), 0.882, "healthy"),
    ("serving at .4", replace(SERVING, success_rate=0.4), 0.5, "degraded"),
    ("serving at 0", replace(SERVING, success_rate=0.0), 0.5, "degraded"),
    ("slow", replace(SERVING, is_slow=True), 0.7, "degraded"),
    ("slow cold start", replace(SERVING, is_serving=False, is_slow=True), 0.4, "unhealthy"),
    ("a drifting judge", replace(SERVING, is_judge_drifting=True), 0.8, "healthy"),
    ("slow and drifting", replace(SERVING, is_slow=True, is_judge_drifting=True), 0.6, "degraded"),
    ("bad, slow, drifting", Signs(True, False, True, 0.1, True, True), 0.2, "unhealthy"),
]


@pytest.mark.parametrize(
    ("signs", "health", "status"), [row[1:] for row in FORMULA], ids=[row[0] for row in FORMULA]
)
def test_the_predictors_health_is_as_the_source_document_says(
    signs: Signs, health: float, status: str
) -> None:
    assert score(signs) == health
    assert status_of(score(signs)) == status


def alive(*kinds: str, since: timedelta = timedelta(hours=1)) -> None:
    now = timezone.now()
    for kind in kinds:
        heartbeat.beat(heartbeat.tally.row(f"{kind}@here/1", started_at=now - since, now=now))


def configure(tenant: Tenant, **changes: Any) -> None:
    change_settings(tenant.workspace, changes, actor=SYSTEM, now=timezone.now())


def put_state(tenant: Tenant, **fields: Any) -> None:
    with in_workspace(tenant.workspace):
        PredictorState.objects.create(updated_at=timezone.now(), **fields)


def predictor_of(tenant: Tenant) -> Any:
    answer = tenant.reader.get("diagnostics/predictor")
    assert answer.status_code == 200
    return answer.json()


def test_a_new_workspace_waits_in_cold_start(tenant: Tenant) -> None:
    alive("worker")
    found = predictor_of(tenant)
    assert (found["score"], found["status"]) == (0.6, "degraded")
    fields = found["fields"]
    assert (fields["phase"], fields["scored_sessions"], fields["min_sessions"]) == (
        "collecting", 0, 10,
    )  # fmt: skip
    assert fields["p95_ms"] is None
    assert fields["last_training"] is None
    assert (fields["success_rate"], fields["comparisons"]) == (0.5, 0)
    assert found["says"] == "It has learned nothing yet; the baseline's order serves."


def test_people_read_of_a_predictor_without_a_say_that_it_learns(tenant: Tenant) -> None:
    alive("worker", "beat")
    with in_workspace(tenant.workspace):
        learning = diagnose(tenant.workspace, now=timezone.now())
    assert (learning.status, learning.word) == ("degraded", "learning")
    assert learning.by_name["predictor"].word == "learning"

    put_state(tenant, phase="active", success_rate=0.1)
    with in_workspace(tenant.workspace):
        behind = diagnose(tenant.workspace, now=timezone.now())
    assert (behind.word, behind.by_name["predictor"].word) == ("degraded", "degraded")


def test_learning_hides_no_worse_part(tenant: Tenant) -> None:
    alive("worker")
    with in_workspace(tenant.workspace):
        found = diagnose(tenant.workspace, now=timezone.now())
    assert found.by_name["predictor"].word == "learning"
    assert (found.by_name["queue"].word, found.word) == ("degraded", "degraded")


def test_a_model_that_has_earned_nothing_yet_is_said_to_be_compared(tenant: Tenant) -> None:
    alive("worker")
    trained = Governor.initial().after_training().to_json()
    put_state(tenant, phase="warming", served=1, governor=trained)
    assert predictor_of(tenant)["says"] == (
        "It learns and is compared; the baseline's order serves. The learned ranking has no say"
        " yet: it was compared in no session so far. To be compared, learned ranking and baseline"
        " choose in turn in every session."
    )


def test_without_a_worker_the_predictor_is_unhealthy(tenant: Tenant) -> None:
    alive("web", "beat")
    assert predictor_of(tenant)["score"] == 0.0
    assert "No worker" in predictor_of(tenant)["says"]


def test_a_service_that_has_just_started_is_said_to_be_starting(tenant: Tenant) -> None:
    alive("web", since=timedelta(seconds=30))
    with in_workspace(tenant.workspace):
        young = diagnose(tenant.workspace, now=timezone.now())
    assert (young.status, young.word) == ("unhealthy", "starting")
    for name in ("predictor", "queue"):
        part = young.by_name[name]
        assert part.word == "starting"
        assert "Not every process has reported" in part.says
        assert "No worker" not in part.says


def test_a_service_that_starts_long_is_unhealthy(tenant: Tenant) -> None:
    alive("web", since=timedelta(minutes=3))
    alive("beat", since=timedelta(seconds=30))
    with in_workspace(tenant.workspace):
        old = diagnose(tenant.workspace, now=timezone.now())
    assert (old.word, old.by_name["predictor"].word, old.by_name["queue"].word) == (
        "unhealthy", "unhealthy", "unhealthy",
    )  # fmt: skip


def test_a_silent_broker_is_no_start(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    alive("web", since=timedelta(seconds=30))
    silent = {"name": "broker", "ok": False, "detail": "no answer"}
    monkeypatch.setattr(parts, "broker_check", lambda: silent)
    with in_workspace(tenant.workspace):
        found = diagnose(tenant.workspace, now=timezone.now())
    assert (found.word, found.by_name["queue"].word) == ("unhealthy", "unhealthy")


def test_off_is_no_illness(tenant: Tenant) -> None:
    configure(tenant, predictor_mode="off")
    found = predictor_of(tenant)
    assert (found["score"], found["status"]) == (1.0, "healthy")
    assert found["says"] == "The learned ranking is switched off."
    assert found["fields"]["mode"] == "off"
    with in_workspace(tenant.workspace):
        assert PredictorState.objects.count() == 0  # looking leaves nothing behind


def test_an_open_breaker_is_unhealthy_until_it_closes(tenant: Tenant, neighbour: Tenant) -> None:
    alive("worker")
    put_state(tenant, phase="active", success_rate=0.7, disabled_until=timezone.now())
    put_state(neighbour, phase="active", disabled_until=timezone.now() + timedelta(minutes=9))
    assert predictor_of(tenant)["score"] == 0.94
    with in_workspace(tenant.workspace):
        PredictorState.objects.update(disabled_until=timezone.now() + timedelta(minutes=9))
    found = predictor_of(tenant)
    assert (found["score"], found["status"]) == (0.0, "unhealthy")
    assert found["fields"]["disabled_until"] is not None


def test_one_slow_ranking_among_few_is_no_sign_of_slowness(tenant: Tenant) -> None:
    alive("worker")
    put_state(tenant, phase="active", success_rate=0.5)
    telemetry.observe("predictor_score", 0.3, tenant.workspace)
    for _ in range(8):
        telemetry.observe("predictor_score", 0.004, tenant.workspace)
    latency.write("web@here/1")
    found = predictor_of(tenant)
    assert found["fields"]["p95_ms"] > found["fields"]["timeout_ms"]
    assert found["score"] == 0.9
    assert "timeout" not in found["says"]


def test_scoring_slower_than_the_timeout_costs_a_fifth(tenant: Tenant, neighbour: Tenant) -> None:
    alive("worker")
    put_state(tenant, phase="active", success_rate=0.5)
    telemetry.observe("predictor_score", 9.0, neighbour.workspace)
    for _ in range(19):
        telemetry.observe("predictor_score", 0.002, tenant.workspace)
    latency.write("web@here/1")
    assert predictor_of(tenant)["score"] == 0.9
    for _ in range(2):
        telemetry.observe("predictor_score", 0.3, tenant.workspace)
    latency.write("web@here/1")
    found = predictor_of(tenant)
    assert found["score"] == 0.7
    assert found["fields"]["p95_ms"] > found["fields"]["timeout_ms"]
    assert found["fields"]["last_ms"] == 300


def test_the_last_training_is_one_that_has_ended(tenant: Tenant) -> None:
    now = timezone.now()
    with in_workspace(tenant.workspace):
        Training.objects.create(
            status="promoted", reason="first", loss=0.2, version=1, finished_at=now,
            started_at=now - timedelta(minutes=5),
        )  # fmt: skip
        Training.objects.create(status="running", reason="interval", started_at=now)
    last = predictor_of(tenant)["fields"]["last_training"]
    assert (last["status"], last["loss"], last["version"]) == ("promoted", 0.2, 1)
    assert tenant.reader.get("predictor/status").json()["last_training"] == last


def compared(tenant: Tenant, outcomes: str, *, project: str, scope: str = "") -> None:
    """Record sessions of a place by what came of them: w, l, t, or v for void."""
    names = {"w": "win", "l": "loss", "t": "tie", "v": "void"}
    now = timezone.now()
    with in_workspace(tenant.workspace):
        for number, outcome in enumerate(outcomes):
            session = Session.objects.create(
                session_key=f"{project}/{scope}/{number}", project=project, scope=scope, k=10,
                budget_chars=6000, started_at=now,
            )  # fmt: skip
            Comparison.objects.create(
                session=session, outcome=names[outcome], phase="active",
                is_evidence=outcome != "v", created_at=now + timedelta(seconds=number),
            )  # fmt: skip


def test_slices_show_where_the_predictor_does_well(tenant: Tenant, neighbour: Tenant) -> None:
    compared(tenant, "wwv", project="good", scope="web/login")
    compared(tenant, "l", project="bad", scope="web/cart")
    compared(tenant, "t", project="", scope="")
    compared(neighbour, "wwww", project="zenith's")
    found = predictor_of(tenant)["fields"]["slices"]
    assert found["projects"] == [
        {"name": "good", "sessions": 2, "success_rate": pytest.approx(0.595)},
        {"name": "bad", "sessions": 1, "success_rate": pytest.approx(0.45)},
    ]
    assert [(s["name"], s["sessions"]) for s in found["scopes"]] == [("web", 3)]


def test_the_five_places_with_the_most_sessions_are_shown(tenant: Tenant) -> None:
    for number in range(7):
        compared(tenant, "w" * (number + 1), project=f"p{number}")
    found = predictor_of(tenant)["fields"]["slices"]["projects"]
    assert [row["name"] for row in found] == ["p6", "p5", "p4", "p3", "p2"]


def domain(tenant: Tenant, name: str) -> Any:
    return tenant.reader.get("diagnostics").json()["domains"][name]


def test_every_part_has_a_score_a_status_and_a_sentence(tenant: Tenant) -> None:
    answer = tenant.reader.get("diagnostics").json()
    assert tuple(answer["domains"]) == DOMAINS
    for found in answer["domains"].values():
        assert 0 <= found["score"] <= 1
        assert found["status"] == status_of(found["score"])
        assert found["says"].endswith(".")
    worst = min(found["score"] for found in answer["domains"].values())
    assert (answer["score"], answer["status"]) == (worst, status_of(worst))


def test_the_queue_is_as_old_as_its_oldest(tenant: Tenant, neighbour: Tenant) -> None:
    alive("worker", "beat")
    assert domain(tenant, "queue")["score"] == 1.0
    tenant.agent.post("memories", {"content": "We deploy on Tuesdays."})
    assert domain(tenant, "queue")["fields"]["detection"] == 1
    scores = []
    for seconds in (5, 61, 601, 3601):
        with in_workspace(tenant.workspace):
            DetectionDue.objects.update(since=timezone.now() - timedelta(seconds=seconds))
        scores.append(domain(tenant, "queue")["score"])
    assert scores == [1.0, 0.7, 0.4, 0.2]
    assert domain(neighbour, "queue")["score"] == 1.0


def test_what_is_put_off_makes_no_queue_old(tenant: Tenant) -> None:
    alive("worker", "beat")
    tenant.agent.post("memories", {"content": "We deploy on Tuesdays."})
    now = timezone.now()
    with in_workspace(tenant.workspace):
        DetectionDue.objects.update(
            since=now - timedelta(hours=5), not_before=now + timedelta(hours=1)
        )
    assert domain(tenant, "queue")["score"] == 1.0


def test_a_queue_at_which_nobody_works_is_unhealthy(tenant: Tenant) -> None:
    assert domain(tenant, "queue")["status"] == "unhealthy"
    alive("worker")
    found = domain(tenant, "queue")
    assert (found["status"], found["fields"]["workers"]) == ("degraded", 1)
    assert "scheduler" in found["says"]


def test_a_silent_broker_is_told(tenant: Tenant, settings: Any) -> None:
    alive("worker", "beat")
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    found = domain(tenant, "queue")
    assert (found["status"], found["fields"]["broker"]) == ("unhealthy", "silent")


def test_memories_without_an_embedding_lower_the_index(tenant: Tenant) -> None:
    for content in ("One of them.", "Two of them.", "Three of them.", "Four of them."):
        tenant.agent.post("memories", {"content": content})
    with in_workspace(tenant.workspace):
        Memory.objects.filter(content="One of them.").update(is_embedding_due=True)
    found = domain(tenant, "index")
    assert (found["score"], found["fields"]["live"], found["fields"]["waiting"]) == (0.75, 4, 1)
    assert found["fields"]["dimensions"] == 384


def test_a_failing_embedding_model_is_told_for_an_hour(tenant: Tenant, neighbour: Tenant) -> None:
    now = timezone.now()
    for minutes, status in ((61, "healthy"), (5, "unhealthy")):
        telemetry.record_error(
            "embedding", "embedding_unavailable",
            now=now - timedelta(minutes=minutes), workspace=tenant.workspace,
        )  # fmt: skip
        assert domain(tenant, "provider")["status"] == status
    assert domain(neighbour, "provider")["status"] == "healthy"


def test_failed_runs_lower_detection(tenant: Tenant) -> None:
    now = timezone.now()
    with in_workspace(tenant.workspace):
        for status in ("done", "done", "done", "failed"):
            DetectionRun.objects.create(
                reason="commit", status=status, created_at=now, lag_seconds=1.0
            )
    found = domain(tenant, "detection")
    assert (found["score"], found["fields"]["failed_last_day"]) == (0.75, 1)
    configure(tenant, detection_enabled=False)
    assert domain(tenant, "detection")["score"] == 1.0


def test_a_part_of_which_too_little_is_known_is_neither_well_nor_ill(
    tenant: Tenant, member: Callable[[str], Client]
) -> None:
    alive("worker", "beat")
    now = timezone.now()
    with in_workspace(tenant.workspace):
        found = diagnose(tenant.workspace, now=now)
    assert (found.by_name["gate"].status, found.by_name["gate"].word) == ("healthy", "unknown")
    assert found.word == "learning"  # it hides nothing
    well = Domain("queue", 1.0, "Nothing waits.")
    assert Diagnosis(now, (found.by_name["gate"], well)).word == "healthy"
    html = member("reader").get("/").content.decode()
    [gate] = re.findall(r'<li class="unknown">(.*?)</li>', html, re.DOTALL)
    assert "<strong>Gate</strong> unknown:" in gate
    assert PATHS["ask"] in gate
    assert PATHS["check"] not in gate
    configure(tenant, gate_policy="off")
    with in_workspace(tenant.workspace):
        off = diagnose(Workspace.objects.get(pk=tenant.workspace.pk), now=now)
    assert off.by_name["gate"].word == "healthy"


def test_the_gate_counts_wrong_merges_once_enough_were_judged(tenant: Tenant) -> None:
    assert domain(tenant, "gate")["says"] == "Too few merges were judged to tell."
    configure(tenant, gate_policy="off")
    assert domain(tenant, "gate")["says"] == "The gate is switched off."


def test_storage_counts_what_is_there(tenant: Tenant, neighbour: Tenant) -> None:
    mine = tenant.agent.post("memories", {"content": "One of them."}).json()["memory"]["id"]
    tenant.agent.post("memories", {"content": "Another thing entirely."})
    neighbour.agent.post("memories", {"content": "Not yours."})
    tenant.agent.post("memories/forget", {"ids": [mine], "confirm": True})
    fields = domain(tenant, "storage")["fields"]
    assert (fields["memories"], fields["hidden_memories"], fields["sessions"]) == (1, 1, 0)


def judged(tenant: Tenant, *, young: float, old: float, weeks_ago: float = 0) -> None:
    """Record a judged session with memories of two days and of sixty."""
    now = timezone.now() - timedelta(weeks=weeks_ago)
    with in_workspace(tenant.workspace):
        session = Session.objects.create(
            session_key="judged", k=10, budget_chars=6000, started_at=now
        )
        Judgement.objects.create(
            session=session, status="done", kind="offline", version="1", due_at=now,
            judged_at=now,
        )  # fmt: skip
        for days, relevance in ((2, young), (60, old)):
            for number in range(10):
                content = f"Memory {number} of {days} days."
                memory = Memory.objects.create(
                    content=content, content_hash=content[:64], observed_at=now - timedelta(days),
                    created_at=now, updated_at=now,
                )  # fmt: skip
                Label.objects.create(
                    session=session, memory=memory, relevance=relevance, created_at=now
                )


@pytest.mark.parametrize(("young", "health", "is_over"), [(0.8, 0.6, False), (0.9, 0.5, True)])
def test_a_judge_that_favours_what_is_new_costs_a_tenth(
    tenant: Tenant, neighbour: Tenant, young: float, health: float, is_over: bool
) -> None:
    alive("worker")
    judged(neighbour, young=1.0, old=0.0)
    judged(tenant, young=young, old=0.55)
    found = predictor_of(tenant)
    assert found["score"] == health
    assert found["fields"]["judge_drift"] == {
        "signal": pytest.approx(young - 0.55), "threshold": 0.3, "is_over": is_over,
    }  # fmt: skip


@pytest.mark.parametrize(("weeks_ago", "signal"), [(3.5, 1.0), (4.5, None)])
def test_what_the_judge_favoured_weeks_ago_is_no_sign_of_today(
    tenant: Tenant, weeks_ago: float, signal: float | None
) -> None:
    alive("worker")
    judged(tenant, young=1.0, old=0.0, weeks_ago=weeks_ago)
    with CaptureQueriesContext(connection) as asked:
        found = predictor_of(tenant)["fields"]["judge_drift"]
    assert (found["signal"], found["is_over"]) == (signal, signal is not None)
    (sql,) = [
        one["sql"] for one in asked if "predictor_label" in one["sql"] and "AVG" in one["sql"]
    ]
    assert sql.count("FILTER") == 4 * 4  # young and old, mean and count, of four weeks


@pytest.mark.parametrize(("ratings", "is_told"), [(20, True), (10, True), (9, False)])
def test_a_judge_far_from_people_is_flagged(tenant: Tenant, ratings: int, is_told: bool) -> None:
    alive("worker")
    judged(tenant, young=0.9, old=0.9)
    now = timezone.now()
    with in_workspace(tenant.workspace):
        drawn = CalibrationSample.objects.create(reason="asked", size=20, drawn_at=now)
        session = Session.objects.get()
        for position, memory in enumerate(Memory.objects.all()[:ratings]):
            CalibrationItem.objects.create(
                sample=drawn, session=session, memory=memory, position=position, stratum="high",
                judge_relevance=0.9, judge_kind="offline", judge_version="1", label=0.1,
                labelled_by="alice", labelled_at=now,
            )  # fmt: skip
    found = predictor_of(tenant)
    assert found["fields"]["calibration"] == {
        "labels": ratings, "mean_absolute_error": pytest.approx(0.8), "threshold": 0.2,
        "is_over": True, "waiting": 0,
    }  # fmt: skip
    assert ("far apart" in found["says"]) == is_told  # of few nothing is concluded


def test_a_full_workspace_needs_no_more_queries(tenant: Tenant) -> None:
    alive("worker", "beat")

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert tenant.reader.get("diagnostics").status_code == 200
        return len(asked)

    def fill(count: int, name: str) -> None:
        compared(tenant, "w" * count, project=name)
        now = timezone.now()
        with in_workspace(tenant.workspace):
            for number in range(count):
                content = f"Memory {name} {number}."
                Memory.objects.create(
                    content=content, content_hash=content, observed_at=now, created_at=now,
                    updated_at=now,
                )  # fmt: skip
                DetectionRun.objects.create(
                    reason="commit", status="failed", created_at=now, lag_seconds=1.0
                )
                telemetry.record_error("judge", "judge_failed", now=now)

    tenant.agent.post("memories", {"content": "The first of them."})
    fill(1, "one")
    queries()  # the first request of a key also writes its use
    few = queries()
    fill(40, "many")
    assert queries() == few
