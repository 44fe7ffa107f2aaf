"""Prometheus's figures: of every process, of no workspace, and not for everybody."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.handlers.asgi import ASGIRequest
from django.test import AsyncRequestFactory, Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from conflicts.models import DetectionLease
from engram.console.metrics import BOUNDS
from engram.console.metrics_api import may_read
from engram.kernel import heartbeat, telemetry
from engram.kernel.proxies import TrustedProxies
from engram.kernel.tenancy import in_workspace
from memories.models import Session
from predictor.models import Judgement, TrainingLease
from tests.conftest import Tenant
from tests.console.webhooks import make, tell

TOKEN = "a-token-of-our-own"


def read(client: Client | None = None, **headers: str) -> Any:
    return (client or Client()).get("/metrics", headers=headers)


def samples(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name, frozenset(sample.labels.items())] = sample.value
    return found


def value(text: str, name: str, **labels: str) -> float | None:
    return samples(text).get((name, frozenset(labels.items())))


def beat(name: str, *, seconds_ago: float = 0) -> None:
    now = timezone.now() - timedelta(seconds=seconds_ago)
    heartbeat.beat(heartbeat.tally.row(name, started_at=now - timedelta(minutes=1), now=now))


def test_the_figures_of_every_process_are_told(tenant: Tenant, neighbour: Tenant) -> None:
    for seconds in (0.003, 0.003, 0.7):
        telemetry.observe("recall", seconds, tenant.workspace)
    with in_workspace(neighbour.workspace):
        telemetry.record_error("detect", "detect_failed", now=timezone.now())
    heartbeat.tally.count_task_start()
    heartbeat.tally.count_task_end("conflicts.detect", "done", 0.1)
    tenant.reader.get("memories")
    beat("web@here/1")
    heartbeat.tally.reset()
    beat("worker@there/2")
    beat("worker@there/3", seconds_ago=61)
    text = read().content.decode()
    web = {"process": "web@here/1"}
    assert value(text, "engram_process_up", kind="web", **web) == 1
    assert value(text, "engram_process_up", process="worker@there/2", kind="worker") == 1
    assert value(text, "engram_process_up", process="worker@there/3", kind="worker") is None
    of_recall = {"stage": "recall", **web}
    assert value(text, "engram_stage_seconds_count", **of_recall) == 3
    assert value(text, "engram_stage_seconds_sum", **of_recall) == pytest.approx(0.706)
    told = {
        bound: value(text, "engram_stage_seconds_bucket", le=bound, **of_recall)
        for bound in ("0.0025", "0.005", "0.5", "1", "+Inf")
    }
    assert told == {"0.0025": 0, "0.005": 2, "0.5": 2, "1": 3, "+Inf": 3}
    failed = {"stage": "detect", "code": "detect_failed", **web}
    assert value(text, "engram_stage_errors_total", **failed) == 1
    done = {"task": "conflicts.detect", "outcome": "done", **web}
    assert value(text, "engram_tasks_total", **done) == 1
    assert value(text, "engram_http_requests_total", method="GET", status="200", **web) == 1
    assert value(text, "engram_ready", check="database") == 1
    assert value(text, "engram_broker_queue_length", queue="models") is not None


def test_what_waits_is_counted_without_naming_who(tenant: Tenant, neighbour: Tenant) -> None:
    now = timezone.now()
    for of, minutes in ((tenant, 1), (neighbour, 5)):
        DetectionLease.objects.create(
            workspace=of.workspace, due_at=now - timedelta(minutes=minutes)
        )
    text = read().content.decode()
    assert value(text, "engram_due_workspaces", queue="detection") == 2
    assert value(text, "engram_due_oldest_seconds", queue="detection") == pytest.approx(300, abs=9)
    assert value(text, "engram_due_workspaces", queue="narrative") == 0
    assert value(text, "engram_due_workspaces", queue="webhooks") == 0


def test_workspaces_with_deliveries_that_are_due_are_counted(tenant: Tenant) -> None:
    make(tenant.workspace)
    tell(tenant.workspace, now=timezone.now() - timedelta(minutes=3))
    text = read().content.decode()
    assert value(text, "engram_due_workspaces", queue="webhooks") == 1
    assert value(text, "engram_due_oldest_seconds", queue="webhooks") == pytest.approx(180, abs=9)


def test_sessions_to_be_judged_and_trainings_are_counted(tenant: Tenant, neighbour: Tenant) -> None:
    now = timezone.now()
    for of, minutes in ((tenant, 2), (neighbour, 7)):
        with in_workspace(of.workspace):
            for n in range(2):
                session = Session(session_key=f"s{n}", started_at=now, k=5, budget_chars=0)
                Session.objects.bulk_create([session])
                due = Judgement(session=session, due_at=now - timedelta(minutes=minutes + n))
                Judgement.objects.bulk_create([due])
        TrainingLease.objects.create(workspace=of.workspace, due_at=now - timedelta(seconds=30))
    TrainingLease.objects.filter(workspace=tenant.workspace).update(due_at=now + timedelta(days=1))
    text = read().content.decode()
    assert value(text, "engram_due_workspaces", queue="judging") == 2
    assert value(text, "engram_due_oldest_seconds", queue="judging") == pytest.approx(480, abs=9)
    assert value(text, "engram_due_workspaces", queue="training") == 1
    assert value(text, "engram_due_oldest_seconds", queue="training") == pytest.approx(30, abs=9)
    for of in (tenant, neighbour):
        of.workspace.settings = {"predictor_mode": "off"}
        of.workspace.save()
    text = read().content.decode()
    for queue in ("judging", "training"):
        assert value(text, "engram_due_workspaces", queue=queue) == 0
        assert value(text, "engram_due_oldest_seconds", queue=queue) == 0


def test_no_workspace_is_named(tenant: Tenant, neighbour: Tenant) -> None:
    for of in (tenant, neighbour):
        of.agent.post("memories", {"content": "The launch codes.", "session_key": "sk"})
        telemetry.observe("commit", 0.1, of.workspace)
    beat("web@here/1")
    text = read().content.decode()
    for of in (tenant, neighbour):
        for name in (of.workspace.slug, of.workspace.name, str(of.workspace.pk), "launch"):
            assert name not in text


def test_bounds_rise() -> None:
    assert list(BOUNDS) == sorted(BOUNDS)


@pytest.mark.django_db
def test_this_machine_may_read_while_no_token_is_set() -> None:
    assert read().status_code == 200
    assert Client(REMOTE_ADDR="10.0.0.7").get("/metrics").status_code == 401


@pytest.mark.parametrize("name", ["x-forwarded-for", "forwarded", "x-real-ip"])
def test_nobody_may_through_a_proxy_of_this_machine(name: str) -> None:
    requests = []

    async def application(scope: dict[str, Any], _receive: Any, _send: Any) -> None:
        requests.append(ASGIRequest(scope, BytesIO()))

    serve = TrustedProxies(application, trusted=[])
    for headers in ([], [(name.encode(), b"10.0.0.7")]):
        scope = AsyncRequestFactory()._base_scope(path="/metrics", headers=headers)
        asyncio.run(serve(scope, None, None))  # type: ignore[arg-type]
        requests[-1].user = AnonymousUser()
    assert [may_read(request) for request in requests] == [True, False]


@pytest.mark.django_db
def test_in_production_nobody_may_without_the_token(settings: Any) -> None:
    settings.IS_PRODUCTION = True
    assert read().status_code == 401
    settings.ENGRAM_METRICS_TOKEN = TOKEN
    assert read(Authorization=f"Bearer {TOKEN}").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("sent", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"{TOKEN}", "é"])
def test_where_there_is_a_token_it_is_needed(settings: Any, sent: str) -> None:
    settings.ENGRAM_METRICS_TOKEN = TOKEN
    refused = read(Authorization=sent) if sent else read()
    assert refused.status_code == 401
    assert refused["WWW-Authenticate"].startswith("Bearer")
    assert b"engram_process" not in refused.content


def test_a_key_of_a_workspace_is_no_token(tenant: Tenant) -> None:
    answer = Client(REMOTE_ADDR="10.0.0.7").get(
        "/metrics", headers={"Authorization": f"Bearer {tenant.admin.token}"}
    )
    assert answer.status_code == 401


def test_of_people_only_superusers_may(tenant: Tenant, member: Any) -> None:
    admin = member("admin")
    admin.defaults["REMOTE_ADDR"] = "10.0.0.7"
    assert read(admin).status_code == 401
    root = Client(REMOTE_ADDR="10.0.0.7")
    root.force_login(User.objects.create_superuser("root-ish", password="x"))
    assert read(root).status_code == 200


@pytest.mark.django_db
def test_it_can_only_be_read() -> None:
    assert Client().post("/metrics").status_code == 405
