"""Detection is a row first: dead workers, lost wake-ups and races lose and double nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from conflicts.models import Conflict, DetectionDue, DetectionLease, DetectionRun
from conflicts.services.cards import snooze
from conflicts.services.detection import backlog, detect, story
from engram.kernel import lease
from engram.kernel.actors import SYSTEM
from engram.kernel.lease import lease_of
from engram.kernel.tenancy import in_workspace
from memories.services.lifecycle import forget
from tests.conftest import Tenant

LOW = "The API rate limit is 1000 requests per second."
HIGH = "The API rate limit is 5000 requests per second."


def commit_both(tenant: Tenant) -> list[str]:
    return [
        tenant.agent.post("memories", {"content": content}).json()["memory"]["id"]
        for content in (LOW, HIGH)
    ]


def counts(tenant: Tenant) -> tuple[int, int]:
    """Return how many memories are due and how many cards there are."""
    with in_workspace(tenant.workspace):
        return DetectionDue.objects.count(), Conflict.objects.count()


def at(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment


def test_a_commit_leaves_a_due_row_and_a_waiting_workspace(tenant: Tenant) -> None:
    commit_both(tenant)
    assert counts(tenant) == (2, 0)
    assert backlog.stalled(timezone.now(), 10) == [tenant.workspace.pk]


def test_what_contradicts_its_neighbour_is_first_in_line(tenant: Tenant) -> None:
    ids = commit_both(tenant)
    with in_workspace(tenant.workspace):
        first = DetectionDue.objects.get(is_first_in_line=True)
    assert str(first.memory_id) == ids[1]


def test_a_run_reads_what_is_due_and_stops_waiting(tenant: Tenant) -> None:
    commit_both(tenant)
    detect.detect_due(tenant.workspace, clock=timezone.now)
    assert counts(tenant) == (0, 1)
    assert backlog.stalled(timezone.now(), 10) == []


@pytest.mark.parametrize("seconds", [0.001, 30])
def test_what_is_written_after_a_runner_looked_at_the_clock_is_read(
    tenant: Tenant, seconds: float
) -> None:
    looked = timezone.now() - timedelta(seconds=seconds)
    commit_both(tenant)
    detect.detect_due(tenant.workspace, clock=at(looked))
    assert counts(tenant) == (0, 1)


def test_one_runner_at_a_time(tenant: Tenant) -> None:
    commit_both(tenant)
    now = timezone.now()
    assert lease.acquire(lease_of(DetectionLease, tenant.workspace.pk), uuid4(), now)
    assert detect.detect_due(tenant.workspace, clock=at(now)) == []
    assert counts(tenant) == (2, 0)
    assert backlog.stalled(now, 10) == []


def test_a_silent_runner_is_taken_for_dead(tenant: Tenant) -> None:
    commit_both(tenant)
    now = timezone.now()
    dead = uuid4()
    lease.acquire(lease_of(DetectionLease, tenant.workspace.pk), dead, now)
    later = now + DetectionLease.silence + timedelta(seconds=1)
    assert backlog.stalled(later, 10) == [tenant.workspace.pk]
    runs = detect.detect_due(tenant.workspace, clock=at(later))
    assert [run.status for run in runs] == ["done"]
    assert counts(tenant) == (0, 1)
    assert not lease.renew(lease_of(DetectionLease, tenant.workspace.pk), dead, later)


def test_a_failed_run_says_why_and_is_tried_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_both(tenant)

    def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("the detective stumbled")

    with monkeypatch.context() as patched:
        patched.setattr(detect, "detect_in_turn", fail)
        runs = detect.detect_due(tenant.workspace, clock=timezone.now)
    assert [(run.status, run.error) for run in runs] == [
        ("failed", "RuntimeError")  # a message may quote memories
    ]
    assert counts(tenant) == (2, 0)
    assert backlog.stalled(timezone.now(), 10) == [tenant.workspace.pk]
    detect.detect_due(tenant.workspace, clock=timezone.now)
    assert counts(tenant) == (0, 1)


def test_dying_after_the_findings_were_filed_doubles_nothing(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_both(tenant)
    kept = DetectionDue._base_manager
    with in_workspace(tenant.workspace):
        rows = list(kept.all())
    detect.detect_due(tenant.workspace, clock=timezone.now)
    with in_workspace(tenant.workspace):
        DetectionDue.objects.bulk_create(rows)
    runs = detect.detect_due(tenant.workspace, clock=timezone.now)
    assert [(run.opened, run.joined) for run in runs] == [(0, 0)]
    assert counts(tenant) == (0, 1)


def test_a_memory_that_changes_while_it_is_read_is_read_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = commit_both(tenant)
    real = detect.detect_in_turn
    changed: list[int] = []

    def find_while_someone_writes(*args: Any, **kwargs: Any) -> Any:
        if not changed:
            answer = tenant.agent.patch(f"memories/{ids[0]}", {"content": "Mornings are quiet."})
            changed.append(answer.status_code)
        return real(*args, **kwargs)

    monkeypatch.setattr(detect, "detect_in_turn", find_while_someone_writes)
    runs = detect.detect_due(tenant.workspace, clock=timezone.now)
    assert changed == [200]
    assert [run.trigger_count for run in runs] == [2, 1]
    assert counts(tenant)[0] == 0


def test_a_member_forgotten_while_it_is_read_opens_no_card(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = commit_both(tenant)
    real = detect.detect_in_turn

    def find_then_forget(*args: Any, **kwargs: Any) -> Any:
        found = real(*args, **kwargs)
        tenant.agent.post("memories/forget", {"ids": ids[:1], "confirm": True})
        return found

    monkeypatch.setattr(detect, "detect_in_turn", find_then_forget)
    detect.detect_due(tenant.workspace, clock=timezone.now)
    assert counts(tenant) == (0, 0)


def test_the_longest_waiting_workspace_comes_first(tenant: Tenant, neighbour: Tenant) -> None:
    commit_both(neighbour)
    commit_both(tenant)
    assert backlog.stalled(timezone.now(), 10) == [neighbour.workspace.pk, tenant.workspace.pk]
    assert backlog.stalled(timezone.now(), 1) == [neighbour.workspace.pk]


def test_a_burst_is_one_run_with_every_fact_read(tenant: Tenant) -> None:
    tenant.agent.post(
        "memories/batch",
        {"memories": [{"content": f"Locker {n} belongs to row {n}."} for n in range(200)]},
    )
    runs = detect.detect_due(tenant.workspace, clock=timezone.now)
    assert [(run.trigger_count, run.facts_considered) for run in runs] == [(200, 200)]


def test_switched_off_detection_queues_nothing(tenant: Tenant) -> None:
    tenant.admin.patch("workspace/settings", {"detection_enabled": False})
    answer = tenant.agent.post("memories", {"content": LOW})
    assert answer.json()["detection"] == {"status": "off"}
    assert counts(tenant) == (0, 0)


def test_a_snoozed_card_comes_back_at_its_time(tenant: Tenant) -> None:
    commit_both(tenant)
    detect.detect_due(tenant.workspace, clock=timezone.now)
    card = tenant.reader.get("conflicts").json()["results"][0]
    until = timezone.now() + timedelta(hours=1)
    tenant.reviewer.post(f"conflicts/{card['id']}/snooze", {"until": until.isoformat()})
    assert snooze.wake_due(tenant.workspace, now=until - timedelta(seconds=1)) == 0
    assert snooze.wake_due(tenant.workspace, now=until) == 1
    assert tenant.reader.get(f"conflicts/{card['id']}").json()["status"] == "open"


def test_giving_a_lease_back_sees_what_fell_due_meanwhile(tenant: Tenant) -> None:
    holder = uuid4()
    lease.acquire(lease_of(DetectionLease, tenant.workspace.pk), holder, timezone.now())
    commit_both(tenant)
    assert backlog.release(DetectionLease, tenant.workspace, holder, timezone.now())
    assert backlog.stalled(timezone.now(), 10) == [tenant.workspace.pk]


def test_a_workspace_without_commits_has_no_runs(tenant: Tenant) -> None:
    assert detect.detect_due(tenant.workspace, clock=timezone.now) == []
    with in_workspace(tenant.workspace):
        assert DetectionRun.objects.count() == 0
    assert DetectionLease.objects.get(workspace=tenant.workspace).holder is None


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the detective stumble over whatever speaks of poison."""
    real = detect.detect_in_turn

    def find(facts: Any, *args: Any, triggers: Any, **kwargs: Any) -> Any:
        words = {fact.id: fact.content for fact in facts}
        if any("poison" in words[trigger] for trigger in triggers):
            raise RuntimeError("poison")
        return real(facts, *args, triggers=triggers, **kwargs)

    monkeypatch.setattr(detect, "detect_in_turn", find)


def test_a_memory_that_cannot_be_read_is_isolated_and_set_aside(
    tenant: Tenant, poison: None, caplog: pytest.LogCaptureFixture
) -> None:
    contents = [*(f"Locker {n} belongs to row {n}." for n in range(8)), "This is poison."]
    tenant.agent.post("memories/batch", {"memories": [{"content": c} for c in contents]})
    now = timezone.now()
    for _ in range(8):
        now += timedelta(seconds=10)
        detect.detect_due(tenant.workspace, clock=at(now))
    with in_workspace(tenant.workspace):
        row = DetectionDue.objects.select_related("memory").get()
    assert (row.memory.content, row.attempts >= 1) == ("This is poison.", True)
    commit_both(tenant)
    detect.detect_due(tenant.workspace, clock=at(now))
    assert counts(tenant) == (1, 1)
    while backlog.stalled(now + timedelta(days=1), 10):
        now += timedelta(minutes=30)
        detect.detect_due(tenant.workspace, clock=at(now))
    with in_workspace(tenant.workspace):
        kept = backlog.select_set_aside().get()
        read = DetectionRun.objects.count()
    assert kept.attempts == backlog.MAX_ATTEMPTS
    detect.detect_due(tenant.workspace, clock=at(now + timedelta(days=1)))
    with in_workspace(tenant.workspace):
        assert DetectionRun.objects.count() == read
    assert "This is poison." not in caplog.text


def test_a_memory_that_was_set_aside_is_read_when_it_changes(tenant: Tenant) -> None:
    ids = commit_both(tenant)
    with in_workspace(tenant.workspace):
        DetectionDue.objects.update(attempts=backlog.MAX_ATTEMPTS, read_with=1)
    assert detect.detect_due(tenant.workspace, clock=timezone.now) == []
    tenant.agent.post("conflicts/detect", {"memory_id": ids[0]})
    runs = detect.detect_due(tenant.workspace, clock=timezone.now)
    assert [(run.status, run.trigger_count) for run in runs] == [("done", 1)]


def test_pauses_grow_and_wake_nobody_meanwhile(tenant: Tenant, poison: None) -> None:
    tenant.agent.post("memories", {"content": "This is poison."})
    now = timezone.now()
    detect.detect_due(tenant.workspace, clock=at(now))
    assert backlog.stalled(now + timedelta(seconds=29), 10) == []
    now += timedelta(seconds=30)
    assert backlog.stalled(now, 10) == [tenant.workspace.pk]
    detect.detect_due(tenant.workspace, clock=at(now))
    assert backlog.stalled(now + timedelta(seconds=59), 10) == []
    assert backlog.stalled(now + timedelta(seconds=60), 10) == [tenant.workspace.pk]


def test_the_next_runner_closes_the_run_of_a_killed_worker(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_both(tenant)
    now = timezone.now()

    def die(*args: Any, **kwargs: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(detect, "detect_in_turn", die)
        with pytest.raises(KeyboardInterrupt):
            detect.detect_due(tenant.workspace, clock=at(now))
    runs = detect.detect_due(tenant.workspace, clock=at(now + timedelta(seconds=1)))
    assert [(run.status, run.trigger_count) for run in runs] == [("done", 1), ("done", 1)]
    with in_workspace(tenant.workspace):
        closed = DetectionRun.objects.get(status="failed")
    assert closed.error == backlog.ABANDONED
    assert counts(tenant) == (0, 1)


def test_a_runner_that_was_taken_over_files_nothing(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_both(tenant)
    real = detect.detect_in_turn

    def find_too_long(*args: Any, **kwargs: Any) -> Any:
        DetectionLease.objects.update(holder=uuid4(), heartbeat_at=timezone.now())
        return real(*args, **kwargs)

    monkeypatch.setattr(detect, "detect_in_turn", find_too_long)
    runs = detect.detect_due(tenant.workspace, clock=timezone.now)
    assert [(run.status, run.error) for run in runs] == [("failed", "TakenOverError")]
    assert counts(tenant) == (2, 0)


def test_a_turn_ends_and_the_rest_is_woken_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detect, "TRIGGERS_A_RUN", 1)
    commit_both(tenant)
    woken: list[Any] = []
    monkeypatch.setattr(detect, "wake", lambda *asked: woken.append(asked))
    assert len(detect.detect_due(tenant.workspace, clock=timezone.now, seconds=0)) == 1
    assert woken == [(detect.DETECT_TASK, tenant.workspace.pk)]
    assert backlog.stalled(timezone.now(), 10) == [tenant.workspace.pk]
    assert len(detect.detect_due(tenant.workspace, clock=timezone.now, seconds=0)) == 1
    assert len(woken) == 1
    assert counts(tenant) == (0, 1)


def test_of_a_long_story_the_nearest_are_read_in_small_runs(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(story, "WHOLE_STORY_FACTS", 10)
    monkeypatch.setattr(story, "FACTS_A_RUN", 12)
    monkeypatch.setattr(detect, "TRIGGERS_A_RUN_OF_A_LONG_STORY", 8)
    others = [{"content": f"Locker {n} belongs to row {n}."} for n in range(20)]
    tenant.agent.post("memories/batch", {"memories": others})
    commit_both(tenant)
    runs = detect.detect_due(tenant.workspace, clock=timezone.now)
    assert [run.trigger_count for run in runs] == [8, 8, 6]
    assert {run.facts_considered for run in runs} == {12}
    assert counts(tenant) == (0, 1)


def test_what_comes_back_waits_since_it_is_noted_not_since_its_story_says(tenant: Tenant) -> None:
    """Otherwise an import or a demo would seem to have waited for months, and go first."""
    ids = [UUID(memory_id) for memory_id in commit_both(tenant)]
    detect.detect_due(tenant.workspace, clock=timezone.now)
    forget.forget(tenant.workspace, ids[:1], actor=SYSTEM, now=timezone.now())
    before = timezone.now()
    forget.restore(tenant.workspace, ids[:1], actor=SYSTEM, now=before - timedelta(days=90))
    with in_workspace(tenant.workspace):
        assert DetectionDue.objects.get().since >= before
    assert backlog.stalled(before, 10) == []
    [run] = detect.detect_due(tenant.workspace, clock=timezone.now)
    assert (run.lag_seconds or 0) < 60
    assert counts(tenant) == (0, 1)


def test_nothing_that_comes_back_is_queued_while_detection_is_off(tenant: Tenant) -> None:
    ids = [UUID(memory_id) for memory_id in commit_both(tenant)]
    detect.detect_due(tenant.workspace, clock=timezone.now)
    tenant.admin.patch("workspace/settings", {"detection_enabled": False})
    forget.forget(tenant.workspace, ids[:1], actor=SYSTEM, now=timezone.now())
    forget.restore(tenant.workspace, ids[:1], actor=SYSTEM, now=timezone.now())
    assert counts(tenant)[0] == 0
