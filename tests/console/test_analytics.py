"""Latencies, errors and processes as operators see them: their own workspace's, bounded, exact."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel import heartbeat, latency, telemetry
from engram.kernel.models import LatencyHour, StageError
from engram.kernel.tenancy import in_workspace
from tests.conftest import NOW, Tenant

ROOT = Path(__file__).resolve().parents[2]


def add_errors(tenant: Tenant, count: int, **more: Any) -> None:
    with in_workspace(tenant.workspace):
        StageError.objects.bulk_create(
            StageError(**{"stage": "judge", "code": "judge_failed", "at": NOW} | more)
            for _ in range(count)
        )


def test_latencies_tell_every_stage_though_it_never_ran(tenant: Tenant) -> None:
    answer = tenant.reader.get("analytics/latency").json()
    assert answer["window"] == "24h"
    assert [stage["stage"] for stage in answer["stages"]] == list(telemetry.STAGES)
    assert {(s["count"], s["mean_ms"], s["p95_ms"], s["last_at"]) for s in answer["stages"]} == {
        (0, None, None, None)
    }


def test_latencies_are_those_of_the_own_workspace(tenant: Tenant, neighbour: Tenant) -> None:
    for seconds in (0.010, 0.010, 0.010, 0.200):
        telemetry.observe("recall", seconds, tenant.workspace)
    telemetry.observe("recall", 9.0, neighbour.workspace)
    telemetry.observe("secret_stage", 9.0, neighbour.workspace)
    latency.write("web@here/1")
    stages = tenant.reader.get("analytics/latency", {"window": "1h"}).json()["stages"]
    recall = next(stage for stage in stages if stage["stage"] == "recall")
    assert recall["count"] == 4
    assert recall["mean_ms"] == pytest.approx(57.5)
    assert recall["p50_ms"] == pytest.approx(10, rel=0.05)
    assert recall["p95_ms"] == recall["p99_ms"] == pytest.approx(200, rel=0.05)
    assert recall["last_ms"] == 200
    assert "secret_stage" not in {stage["stage"] for stage in stages}


def test_a_window_reaches_as_far_as_it_says(tenant: Tenant) -> None:
    this_hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    with in_workspace(tenant.workspace):
        for hours in (0, 5, 23, 150, 700):
            LatencyHour.objects.create(
                stage="commit", hour=this_hour - timedelta(hours=hours), counts=[1], total_seconds=1
            )
    counts = {}
    for window in ("1h", "6h", "24h", "7d", "30d"):
        stages = tenant.reader.get("analytics/latency", {"window": window}).json()["stages"]
        counts[window] = stages[0]["count"]
    assert counts == {"1h": 1, "6h": 2, "24h": 3, "7d": 4, "30d": 5}


@pytest.mark.parametrize("query", [{"window": "2h"}, {"window": ""}, {"windw": "1h"}])
def test_a_window_that_there_is_not_is_refused(tenant: Tenant, query: dict[str, str]) -> None:
    assert tenant.reader.get("analytics/latency", query).status_code == 422


def test_errors_come_newest_first_page_by_page(tenant: Tenant, neighbour: Tenant) -> None:
    add_errors(neighbour, 3, detail="zenith's")
    with in_workspace(tenant.workspace):
        for number in range(5):
            telemetry.record_error("judge", "judge_failed", detail=f"{number}", now=NOW)
    first = tenant.admin.get("analytics/errors", {"limit": 2}).json()
    second = tenant.admin.get(first["next"]).json()
    third = tenant.admin.get(second["next"]).json()
    told = [row["detail"] for page in (first, second, third) for row in page["results"]]
    assert told == ["4", "3", "2", "1", "0"]
    assert third["next"] is None


def test_errors_are_filtered(tenant: Tenant) -> None:
    add_errors(tenant, 1, stage="predictor_score", code="predictor_timeout", session_key="s/1")
    add_errors(tenant, 1, stage="predictor_score", code="predictor_crash")
    add_errors(tenant, 1, stage="detect", code="detect_failed", at=NOW + timedelta(hours=1))

    def codes(**query: str) -> list[str]:
        rows = tenant.reader.get("analytics/errors", query).json()["results"]
        return [row["code"] for row in rows]

    assert codes() == ["detect_failed", "predictor_crash", "predictor_timeout"]
    assert codes(stage="predictor_score") == ["predictor_crash", "predictor_timeout"]
    assert codes(stage="predictor_score", code="predictor_crash") == ["predictor_crash"]
    assert codes(session_key="s/1") == ["predictor_timeout"]
    assert codes(since=(NOW + timedelta(minutes=1)).isoformat()) == ["detect_failed"]
    assert codes(stage="recall") == []


def test_a_stage_or_code_that_there_is_not_is_told_which_there_are(tenant: Tenant) -> None:
    for name, known in (("stage", {*telemetry.STAGES, *telemetry.CODES}), ("code", every_code())):
        (error,) = tenant.reader.get("analytics/errors", {name: "typo"}).json()["errors"]
        assert error["field"] == name
        assert error["message"] == f"Must be one of: {', '.join(sorted(known))}."


def test_every_failure_that_is_noted_can_be_asked_for() -> None:
    noted = re.compile(r'record_error|record_outage|note_failure|_none\(|= "[a-z]+_failed"')
    code = re.compile(r'"((?:detect|drift|embedding|extract|judge|narrate|predictor)_[a-z_]+)"')
    sources = [
        path.read_text()
        for app in ("engram", "memories", "conflicts", "predictor")
        for path in (ROOT / app).rglob("*.py")
        if path.name != "telemetry.py"
    ]
    named = {found for text in sources if noted.search(text) for found in code.findall(text)}
    assert named - set(telemetry.STAGES) == every_code()


def every_code() -> set[str]:
    return {code for codes in telemetry.CODES.values() for code in codes}


@pytest.mark.parametrize(
    "query",
    [{"limit": "0"}, {"limit": "201"}, {"cursor": "x"}, {"since": "soon"}, {"stag": "judge"}],
)
def test_a_wrong_query_of_errors_is_refused(tenant: Tenant, query: dict[str, str]) -> None:
    assert tenant.reader.get("analytics/errors", query).status_code == 422


def test_a_nul_in_a_filter_is_no_server_error(tenant: Tenant) -> None:
    assert tenant.reader.get("analytics/errors", {"stage": "a\0b"}).status_code == 422


def beat(name: str, *, seconds_ago: float = 0, minutes_up: float = 10) -> None:
    now = timezone.now()
    started_at = now - timedelta(minutes=minutes_up)
    heartbeat.beat(
        heartbeat.tally.row(name, started_at=started_at, now=now - timedelta(seconds=seconds_ago))
    )


def test_processes_tell_what_they_did_for_this_workspace_only(
    tenant: Tenant, neighbour: Tenant
) -> None:
    beat("web@here/1")
    beat("worker@there/2", minutes_up=1)
    for of, times in ((tenant, 3), (neighbour, 50)):
        for _ in range(times):
            telemetry.observe("predictor_score", 0.004, of.workspace)
    latency.write("web@here/1")
    telemetry.observe("predictor_train", 2.0, tenant.workspace)
    latency.write("worker@there/2")
    answer = tenant.admin.get("pipeline/status").json()
    web, worker = answer["workers"]
    assert (web["name"], web["kind"], web["running"]) == ("web@here/1", "web", True)
    assert (web["scores_processed"], web["trainings_completed"]) == (3, 0)
    assert web["last_score_latency_ms"] == 4.0
    assert web["stages"] == {"predictor_score": 3}
    assert web["uptime_seconds"] == pytest.approx(600, abs=30)
    assert (worker["scores_processed"], worker["trainings_completed"]) == (0, 1)
    assert worker["last_score_latency_ms"] is None
    assert answer["running"] is False  # nobody schedules
    assert answer["model_ready"] is False
    beat("beat@here/3")
    assert tenant.reader.get("pipeline/status").json()["running"] is True


@pytest.mark.parametrize("role", ["reader", "agent", "reviewer", "admin"])
def test_machines_and_what_failed_there_are_named_to_admins_alone(
    tenant: Tenant, role: str
) -> None:
    for name in ("web@db7.example/4141", "web@db8.example/4242", "worker@db7.example/4343"):
        beat(name)
    telemetry.record_error(
        "judge", "judge_failed", detail="ConnectError: db7.example:5432", session_key="s",
        now=timezone.now(), workspace=tenant.workspace,
    )  # fmt: skip
    caller = tenant.caller(role)
    status = caller.get("pipeline/status").json()
    errors = caller.get("analytics/errors").json()["results"]
    told = [
        json.dumps(caller.get(path).json())
        for path in ("pipeline/status", "analytics/errors", "diagnostics", "timeline/s")
    ]
    assert [len(status["workers"]), len(errors)] == [3, 1]
    assert [worker["kind"] for worker in status["workers"]] == ["web", "web", "worker"]
    if role == "admin":
        assert status["workers"][0]["name"] == "web@db7.example/4141"
        assert errors[0]["detail"] == "ConnectError: db7.example:5432"
        assert "db7" in told[3]
        return
    assert [worker["name"] for worker in status["workers"]] == ["web 1", "web 2", "worker 1"]
    assert not any(word in text for text in told for word in ("db7", "db8", "4141", "5432"))


def test_a_process_that_fell_silent_is_not_running(tenant: Tenant) -> None:
    beat("worker@here/1", seconds_ago=61)
    beat("worker@here/2", seconds_ago=50)
    beat("worker@here/3", seconds_ago=3700)
    workers = tenant.admin.get("pipeline/status").json()["workers"]
    assert [(w["name"], w["running"]) for w in workers] == [
        ("worker@here/1", False),
        ("worker@here/2", True),
    ]


@pytest.mark.parametrize("path", ["analytics/latency", "analytics/errors", "pipeline/status"])
def test_many_rows_need_no_more_queries(tenant: Tenant, path: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert tenant.reader.get(path).status_code == 200
        return len(asked)

    def add(count: int, name: str) -> None:
        add_errors(tenant, count)
        for number in range(count):
            beat(f"web@{name}/{number}")
            telemetry.observe(f"stage{number}", 0.1, tenant.workspace)
            latency.write(f"web@{name}/{number}")

    add(1, "a")
    queries()  # the first request of a key also writes its use
    few = queries()
    add(40, "b")
    assert queries() == few
