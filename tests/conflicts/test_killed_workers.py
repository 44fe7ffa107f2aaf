"""A worker that is killed (kill -9) at any step of a run loses nothing and doubles nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from conflicts.models import Conflict, DetectionDue, DetectionLease, DetectionRun
from conflicts.services.detection import backlog
from conflicts.services.detection.detect import detect_due
from conflicts.services.detection.time_left import ReadingTime
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant, build_tenant
from tests.killing import kill_at

LOW = "The API rate limit is 1000 requests per second."
HIGH = "The API rate limit is 5000 requests per second."

DETECT = "conflicts.services.detection.detect"
# Where the worker dies, and whether the findings were filed for good by then.
STEPS = {
    "after taking the lease": (DETECT, "lease.acquire", "after", False),
    "after taking what is due": (DETECT, "backlog.assign_run", "after", False),
    "after the rules have read": (DETECT, "detect_in_turn", "after", False),
    "before filing": (DETECT, "file_findings", "before", False),
    "after filing, before the due rows go": (DETECT, "file_findings", "after", False),
    "after the due rows went, before the commit": (DETECT, "backlog.delete_read", "after", False),
    "before giving the lease back": (DETECT, "backlog.release", "before", True),
}


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that other processes see."""
    return build_tenant("busy")


def die(tenant: Tenant, module: str, name: str, when: str) -> None:
    """Let a worker read what is due, and kill it at a step."""
    kill_at(tenant, "conflicts.tasks.detect_workspace", module, name, when)


def commit(tenant: Tenant, *contents: str) -> None:
    for content in contents:
        assert tenant.agent.post("memories", {"content": content}).status_code == 201


def sweep(tenant: Tenant, now: datetime) -> list[DetectionRun]:
    """Read as the sweep would: only where somebody waits."""
    if tenant.workspace.pk not in backlog.stalled(now, 10):
        return []
    return detect_due(tenant.workspace, clock=lambda: now)


def counts(tenant: Tenant) -> dict[str, Any]:
    with in_workspace(tenant.workspace):
        return {
            "due": DetectionDue.objects.count(),
            "cards": [card.members.count() for card in Conflict.objects.all()],
            "opened": Event.objects.filter(type="conflict.opened").count(),
            "running": DetectionRun.objects.filter(status="running").count(),
        }


WHOLE = {"due": 0, "cards": [2], "opened": 1, "running": 0}


@pytest.mark.parametrize("step", STEPS)
def test_a_worker_killed_at_any_step_loses_and_doubles_nothing(
    shared_tenant: Tenant, step: str
) -> None:
    """Pitfall 28."""
    tenant = shared_tenant
    module, name, when, is_filed = STEPS[step]
    commit(tenant, LOW, HIGH)
    die(tenant, module, name, when)
    after = counts(tenant)
    assert (after["due"], after["cards"]) == ((0, [2]) if is_filed else (2, []))
    # What the dead one held is nobody's until it has been silent for long enough.
    assert DetectionLease.objects.get(workspace=tenant.workspace).holder is not None
    assert detect_due(tenant.workspace, clock=timezone.now) == []
    later = timezone.now() + DetectionLease.silence + timedelta(seconds=1)
    runs = sweep(tenant, later)
    assert all(run.status == "done" for run in runs)
    assert counts(tenant) == WHOLE
    assert sweep(tenant, later + timedelta(days=1)) == []
    # And what is said next is read as ever.
    commit(tenant, "The API rate limit is 800 requests per second.")
    detect_due(tenant.workspace, clock=lambda: later)
    assert counts(tenant) == {**WHOLE, "cards": [3]}


def test_the_run_of_a_killed_worker_says_so(shared_tenant: Tenant) -> None:
    tenant = shared_tenant
    commit(tenant, LOW, HIGH)
    die(tenant, DETECT, "detect_in_turn", "after")
    later = timezone.now() + DetectionLease.silence + timedelta(seconds=1)
    sweep(tenant, later)
    with in_workspace(tenant.workspace):
        errors = list(DetectionRun.objects.order_by("created_at").values_list("status", "error"))
    assert errors[0] == ("failed", backlog.ABANDONED)
    assert {status for status, _ in errors[1:]} == {"done"}


@pytest.mark.parametrize("step", ["after the rules have read", "before giving the lease back"])
def test_a_worker_killed_in_a_part_of_a_run_loses_and_doubles_nothing(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A run that had time for one of three memories; the next one is killed."""
    tenant = shared_tenant
    commit(tenant, LOW, HIGH, "The API rate limit is 800 requests per second.")
    with monkeypatch.context() as patched:
        patched.setattr(ReadingTime, "limit", lambda *_: lambda: True)
        [first] = detect_due(tenant.workspace, clock=timezone.now, seconds=0.0)
    assert (first.status, first.trigger_count, counts(tenant)["due"]) == ("done", 1, 2)
    module, name, when, _ = STEPS[step]
    die(tenant, module, name, when)
    later = timezone.now() + DetectionLease.silence + timedelta(seconds=1)
    sweep(tenant, later)
    assert counts(tenant) == {**WHOLE, "cards": [3]}


def test_a_worker_killed_again_and_again_gets_there(shared_tenant: Tenant) -> None:
    """Each death halves the company in which memories are read; one that lives reads all."""
    tenant = shared_tenant
    commit(tenant, LOW, HIGH)
    for name in ("detect_in_turn", "file_findings"):
        die(tenant, DETECT, name, "before")
        stale = timezone.now() - DetectionLease.silence - timedelta(seconds=1)
        DetectionLease.objects.filter(workspace=tenant.workspace).update(heartbeat_at=stale)
    now = timezone.now()
    for _ in range(3):
        now += timedelta(minutes=2)
        sweep(tenant, now)
    assert counts(tenant) == WHOLE
