"""A worker that is killed (kill -9) at any step of a run loses nothing and doubles nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from conflicts.models import Conflict, DetectionDue, DetectionLease, DetectionRun
from conflicts.services.detection import backlog, lease
from conflicts.services.detection.detect import detect_due
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from tests.conftest import House, build_house
from tests.killing import kill_at

LOW = "The API rate limit is 1000 requests per second."
HIGH = "The API rate limit is 5000 requests per second."

DETECT = "conflicts.services.detection.detect"
# Where the worker dies, and whether the findings were filed for good by then.
STEPS = {
    "after taking the lease": (DETECT, "lease.take", "after", False),
    "after taking what is due": (DETECT, "backlog.mark", "after", False),
    "after the rules have read": (DETECT, "find", "after", False),
    "before filing": (DETECT, "file_findings", "before", False),
    "after filing, before the due rows go": (DETECT, "file_findings", "after", False),
    "after the due rows went, before the commit": (DETECT, "backlog.take_away", "after", False),
    "before giving the lease back": (DETECT, "lease.give_back", "before", True),
}


@pytest.fixture
def shared_house(transactional_db: None) -> House:
    """Return a workspace that other processes see."""
    return build_house("busy")


def die(house: House, module: str, name: str, when: str) -> None:
    """Let a worker read what is due, and kill it at a step."""
    kill_at(house, "conflicts.tasks.detect_workspace", module, name, when)


def commit(house: House, *contents: str) -> None:
    for content in contents:
        assert house.agent.post("memories", {"content": content}).status_code == 201


def sweep(house: House, now: datetime) -> list[DetectionRun]:
    """Read as the sweep would: only where somebody waits."""
    if house.workspace.pk not in lease.waiting(now, 10):
        return []
    return detect_due(house.workspace, clock=lambda: now)


def counts(house: House) -> dict[str, Any]:
    with in_workspace(house.workspace):
        return {
            "due": DetectionDue.objects.count(),
            "cards": [card.members.count() for card in Conflict.objects.all()],
            "opened": Event.objects.filter(type="conflict.opened").count(),
            "running": DetectionRun.objects.filter(status="running").count(),
        }


WHOLE = {"due": 0, "cards": [2], "opened": 1, "running": 0}


@pytest.mark.parametrize("step", STEPS)
def test_a_worker_killed_at_any_step_loses_and_doubles_nothing(
    shared_house: House, step: str
) -> None:
    house = shared_house
    module, name, when, is_filed = STEPS[step]
    commit(house, LOW, HIGH)
    die(house, module, name, when)
    after = counts(house)
    assert (after["due"], after["cards"]) == ((0, [2]) if is_filed else (2, []))
    # What the dead one held is nobody's until it has been silent for long enough.
    assert DetectionLease.objects.get(workspace=house.workspace).holder is not None
    assert detect_due(house.workspace, clock=timezone.now) == []
    later = timezone.now() + lease.LEASE_SILENCE + timedelta(seconds=1)
    runs = sweep(house, later)
    assert all(run.status == "done" for run in runs)
    assert counts(house) == WHOLE
    assert sweep(house, later + timedelta(days=1)) == []
    # And what is said next is read as ever.
    commit(house, "The API rate limit is 800 requests per second.")
    detect_due(house.workspace, clock=lambda: later)
    assert counts(house) == {**WHOLE, "cards": [3]}


def test_the_run_of_a_killed_worker_says_so(shared_house: House) -> None:
    house = shared_house
    commit(house, LOW, HIGH)
    die(house, DETECT, "find", "after")
    later = timezone.now() + lease.LEASE_SILENCE + timedelta(seconds=1)
    sweep(house, later)
    with in_workspace(house.workspace):
        errors = list(DetectionRun.objects.order_by("created_at").values_list("status", "error"))
    assert errors[0] == ("failed", backlog.ABANDONED)
    assert {status for status, _ in errors[1:]} == {"done"}


def test_a_worker_killed_again_and_again_gets_there(shared_house: House) -> None:
    """Each death halves the company in which memories are read; one that lives reads all."""
    house = shared_house
    commit(house, LOW, HIGH)
    for name in ("find", "file_findings"):
        die(house, DETECT, name, "before")
        stale = timezone.now() - lease.LEASE_SILENCE - timedelta(seconds=1)
        DetectionLease.objects.filter(workspace=house.workspace).update(heartbeat_at=stale)
    now = timezone.now()
    for _ in range(3):
        now += timedelta(minutes=2)
        sweep(house, now)
    assert counts(house) == WHOLE
