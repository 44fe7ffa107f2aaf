"""Detection is a row first: dead workers, lost wake-ups and races lose and double nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from conflicts.models import Conflict, DetectionDue, DetectionLease, DetectionRun
from conflicts.services import detect, lease, snooze
from engram.kernel.tenancy import in_workspace
from tests.conftest import House

LOW = "The API rate limit is 1000 requests per second."
HIGH = "The API rate limit is 5000 requests per second."


def commit_both(house: House) -> list[str]:
    return [
        house.agent.post("memories", {"content": content}).json()["memory"]["id"]
        for content in (LOW, HIGH)
    ]


def counts(house: House) -> tuple[int, int]:
    """Return how many memories are due and how many cards there are."""
    with in_workspace(house.workspace):
        return DetectionDue.objects.count(), Conflict.objects.count()


def at(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment


def test_a_commit_leaves_a_due_row_and_a_waiting_workspace(house: House) -> None:
    commit_both(house)
    assert counts(house) == (2, 0)
    assert lease.waiting(timezone.now(), 10) == [house.workspace.pk]


def test_what_contradicts_its_neighbour_is_first_in_line(house: House) -> None:
    ids = commit_both(house)
    with in_workspace(house.workspace):
        first = DetectionDue.objects.get(is_first_in_line=True)
    assert str(first.memory_id) == ids[1]


def test_a_run_reads_what_is_due_and_stops_waiting(house: House) -> None:
    commit_both(house)
    detect.detect_due(house.workspace, clock=timezone.now)
    assert counts(house) == (0, 1)
    assert lease.waiting(timezone.now(), 10) == []


def test_one_runner_at_a_time(house: House) -> None:
    commit_both(house)
    now = timezone.now()
    assert lease.take(house.workspace, uuid4(), now)
    assert detect.detect_due(house.workspace, clock=at(now)) == []
    assert counts(house) == (2, 0)
    assert lease.waiting(now, 10) == []


def test_a_silent_runner_is_taken_for_dead(house: House) -> None:
    commit_both(house)
    now = timezone.now()
    dead = uuid4()
    lease.take(house.workspace, dead, now)
    later = now + lease.LEASE_SILENCE + timedelta(seconds=1)
    assert lease.waiting(later, 10) == [house.workspace.pk]
    runs = detect.detect_due(house.workspace, clock=at(later))
    assert [run.status for run in runs] == ["done"]
    assert counts(house) == (0, 1)
    assert not lease.beat(house.workspace, dead, later)


def test_a_failed_run_says_why_and_is_tried_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_both(house)

    def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("the detective stumbled")

    with monkeypatch.context() as patched:
        patched.setattr(detect, "find", fail)
        runs = detect.detect_due(house.workspace, clock=timezone.now)
    assert [(run.status, run.error) for run in runs] == [
        ("failed", "RuntimeError: the detective stumbled")
    ]
    assert counts(house) == (2, 0)
    assert lease.waiting(timezone.now(), 10) == [house.workspace.pk]
    detect.detect_due(house.workspace, clock=timezone.now)
    assert counts(house) == (0, 1)


def test_dying_after_the_findings_were_filed_doubles_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_both(house)
    kept = DetectionDue._base_manager
    with in_workspace(house.workspace):
        rows = list(kept.all())
    detect.detect_due(house.workspace, clock=timezone.now)
    with in_workspace(house.workspace):
        DetectionDue.objects.bulk_create(rows)
    runs = detect.detect_due(house.workspace, clock=timezone.now)
    assert [(run.opened, run.joined) for run in runs] == [(0, 0)]
    assert counts(house) == (0, 1)


def test_a_memory_that_changes_while_it_is_read_is_read_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = commit_both(house)
    real = detect.find
    changed: list[int] = []

    def find_while_someone_writes(*args: Any, **kwargs: Any) -> Any:
        if not changed:
            answer = house.agent.patch(f"memories/{ids[0]}", {"content": "Mornings are quiet."})
            changed.append(answer.status_code)
        return real(*args, **kwargs)

    monkeypatch.setattr(detect, "find", find_while_someone_writes)
    runs = detect.detect_due(house.workspace, clock=timezone.now)
    assert changed == [200]
    assert [run.trigger_count for run in runs] == [2, 1]
    assert counts(house)[0] == 0


def test_a_member_forgotten_while_it_is_read_opens_no_card(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = commit_both(house)
    real = detect.find

    def find_then_forget(*args: Any, **kwargs: Any) -> Any:
        found = real(*args, **kwargs)
        house.agent.post("memories/forget", {"ids": ids[:1], "confirm": True})
        return found

    monkeypatch.setattr(detect, "find", find_then_forget)
    detect.detect_due(house.workspace, clock=timezone.now)
    assert counts(house) == (0, 0)


def test_the_longest_waiting_workspace_comes_first(house: House, neighbour: House) -> None:
    commit_both(neighbour)
    commit_both(house)
    assert lease.waiting(timezone.now(), 10) == [neighbour.workspace.pk, house.workspace.pk]
    assert lease.waiting(timezone.now(), 1) == [neighbour.workspace.pk]


def test_a_burst_is_one_run_with_every_fact_read(house: House) -> None:
    house.agent.post(
        "memories/batch",
        {"memories": [{"content": f"Locker {n} belongs to row {n}."} for n in range(200)]},
    )
    runs = detect.detect_due(house.workspace, clock=timezone.now)
    assert [(run.trigger_count, run.facts_considered) for run in runs] == [(200, 200)]


def test_switched_off_detection_queues_nothing(house: House) -> None:
    house.admin.patch("workspace/settings", {"detection_enabled": False})
    answer = house.agent.post("memories", {"content": LOW})
    assert answer.json()["detection"] == {"status": "off"}
    assert counts(house) == (0, 0)


def test_a_snoozed_card_comes_back_at_its_time(house: House) -> None:
    commit_both(house)
    detect.detect_due(house.workspace, clock=timezone.now)
    card = house.reader.get("conflicts").json()["results"][0]
    until = timezone.now() + timedelta(hours=1)
    house.reviewer.post(f"conflicts/{card['id']}/snooze", {"until": until.isoformat()})
    assert snooze.wake_due(house.workspace, now=until - timedelta(seconds=1)) == 0
    assert snooze.wake_due(house.workspace, now=until) == 1
    assert house.reader.get(f"conflicts/{card['id']}").json()["status"] == "open"


def test_giving_a_lease_back_sees_what_fell_due_meanwhile(house: House) -> None:
    holder = uuid4()
    lease.take(house.workspace, holder, timezone.now())
    commit_both(house)
    assert lease.give_back(house.workspace, holder)
    assert lease.waiting(timezone.now(), 10) == [house.workspace.pk]


def test_a_workspace_without_commits_has_no_runs(house: House) -> None:
    assert detect.detect_due(house.workspace, clock=timezone.now) == []
    with in_workspace(house.workspace):
        assert DetectionRun.objects.count() == 0
    assert DetectionLease.objects.get(workspace=house.workspace).holder is None
