"""Turns: a flood in one workspace delays nobody else's first card by more than a turn.

The order of turns is looked at, with the real services and a queue of wake-ups beside them.
"""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from django.utils import timezone

from conflicts import tasks
from conflicts.core import detective
from conflicts.models import Conflict, DetectionDue, DetectionLease, DetectionRun
from conflicts.services import due
from conflicts.services.detection import detect, time_left, turns
from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.services.commit.commit import Prepared, prepare, write
from memories.services.commit.draft import Draft
from tests.conftest import Tenant

LOW = "The API rate limit is 1000 requests per second."
HIGH = "The API rate limit is 5000 requests per second."
WHEN = (
    "after the training", "once the lights are out", "when the last boat is in", "after supper",
    "before going home", "with the brass key", "by hand", "after a round", "when it is dark",
    "at closing time",
)  # fmt: skip


class Queue:
    """The wake-ups that a single worker has still to take, first come first served."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[str, str]] = deque()

    def wake(self, task: str, *ids: Any) -> None:
        """Stand in for the broker."""
        if task == due.DETECT_TASK:
            self.waiting.append((task, str(ids[0])))

    def work(self) -> None:
        """Take the next wake-up."""
        _, workspace_id = self.waiting.popleft()
        tasks.detect_workspace(workspace_id)


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    """Return the queue of a worker whose turns are one run of ten memories."""
    queue = Queue()
    for module in (due, detect, tasks):
        monkeypatch.setattr(module, "wake", queue.wake)
    monkeypatch.setattr(tasks, "SECONDS_A_TURN", 0.0)
    monkeypatch.setattr(detect, "TRIGGERS_A_RUN", 10)
    monkeypatch.setattr(time_left, "LEAST_SECONDS_OF_READING", 600.0)
    return queue


def flood(tenant: Tenant, size: int = 40) -> None:
    for start in range(0, size, 20):
        rows = [{"content": f"Locker {n} belongs to row {n}."} for n in range(start, start + 20)]
        assert tenant.agent.post("memories/batch", {"memories": rows}).status_code == 201


def contradict(tenant: Tenant) -> None:
    for content in (LOW, HIGH):
        assert tenant.agent.post("memories", {"content": content}).status_code == 201


def runs(tenant: Tenant) -> int:
    with in_workspace(tenant.workspace):
        return DetectionRun.objects.count()


def cards(tenant: Tenant) -> int:
    with in_workspace(tenant.workspace):
        return Conflict.objects.count()


def turns_of(queue: Queue, *tenants: Tenant) -> list[str]:
    """Work until no wake-up is left; return who was read, turn by turn."""
    order = []
    while queue.waiting:
        before = {tenant.workspace.slug: runs(tenant) for tenant in tenants}
        queue.work()
        order += [h.workspace.slug for h in tenants if runs(h) > before[h.workspace.slug]]
    return order


def test_a_flood_delays_anothers_first_card_by_one_turn(
    tenant: Tenant, neighbour: Tenant, queue: Queue
) -> None:
    flood(tenant)
    contradict(neighbour)
    queue.work()
    assert (runs(tenant), runs(neighbour)) == (1, 0)
    queue.work()
    assert (runs(tenant), runs(neighbour), cards(neighbour)) == (1, 1, 1)
    assert turns_of(queue, tenant, neighbour) == ["acme", "acme", "acme"]
    with in_workspace(tenant.workspace):
        assert DetectionDue.objects.count() == 0


def test_wake_ups_of_a_flood_that_pile_up_delay_nobody(
    tenant: Tenant, neighbour: Tenant, queue: Queue
) -> None:
    flood(tenant, 100)
    for _ in range(30):
        queue.wake(due.DETECT_TASK, tenant.workspace.pk)
    queue.work()
    contradict(neighbour)
    queue.work()
    assert runs(neighbour) == 0  # the flood was waiting before
    queue.work()
    assert (runs(neighbour), cards(neighbour)) == (1, 1)
    turns_of(queue, tenant, neighbour)
    assert (runs(tenant), runs(neighbour)) == (10, 1)


def test_two_floods_take_turns(tenant: Tenant, neighbour: Tenant, queue: Queue) -> None:
    flood(tenant)
    flood(neighbour)
    assert turns_of(queue, tenant, neighbour) == ["acme", "zenith"] * 4


def lock(tenant: Tenant, names: tuple[str, ...], size: int) -> None:
    """Commit memories that answer one question, each with the next of some names."""
    rows = [
        {
            "content": f"{names[n % len(names)]} locks the boathouse {WHEN[n]}.",
            "answers": [{"question": "Who locks the boathouse?", "answer": names[n % len(names)]}],
            "session_key": f"s{n}",
        }
        for n in range(size)
    ]
    assert tenant.agent.post("memories/batch", {"memories": rows}).status_code == 201


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each run have the time for four memories."""

    def limit(*_: Any) -> Any:
        asked = count()
        return lambda: next(asked) >= 3

    monkeypatch.setattr(time_left.ReadingTime, "limit", limit)


def test_a_run_without_time_leaves_the_rest_and_the_neighbour_has_its_turn(
    tenant: Tenant, neighbour: Tenant, queue: Queue, hurried: None
) -> None:
    """Pitfall: memories that answer one question took minutes, and all others waited."""
    lock(tenant, ("Olga", "Ruben"), 10)
    contradict(neighbour)
    queue.work()
    with in_workspace(tenant.workspace):
        left = list(DetectionDue.objects.values_list("run", "attempts", "read_with"))
        run = DetectionRun.objects.get()
    assert (run.status, run.trigger_count, run.facts_considered) == ("done", 4, 10)
    assert left == [(None, 0, None)] * 6
    queue.work()
    assert (runs(neighbour), cards(neighbour)) == (1, 1)
    assert turns_of(queue, tenant, neighbour) == ["acme", "acme"]
    with in_workspace(tenant.workspace):
        done = list(DetectionRun.objects.order_by("created_at"))
        assert DetectionDue.objects.count() == 0
    assert [run.trigger_count for run in done] == [4, 4, 2]


def test_what_is_read_in_parts_opens_the_card_that_is_read_at_once(
    tenant: Tenant, neighbour: Tenant, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seen(of: Tenant) -> list[tuple[int, int, set[str]]]:
        with in_workspace(of.workspace):
            return [
                (
                    card.members.count(),
                    len(card.unlisted),
                    set(card.members.values_list("memory__content", flat=True)),
                )
                for card in Conflict.objects.all()
            ]

    lock(neighbour, ("Olga", "Ruben"), 10)
    turns_of(queue, neighbour)
    with monkeypatch.context() as patched:
        patched.setattr(time_left.ReadingTime, "limit", lambda *_: lambda: True)
        lock(tenant, ("Olga", "Ruben"), 10)
        turns_of(queue, tenant)
    assert (runs(tenant), runs(neighbour)) == (10, 1)
    assert seen(tenant) == seen(neighbour)
    assert len(seen(tenant)) == 1


def test_questions_are_embedded_as_far_as_there_is_time(
    tenant: Tenant, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detect, "MEMORIES_A_STEP", 3)
    monkeypatch.setattr(time_left.ReadingTime, "limit", lambda *_: lambda: True)
    lock(tenant, ("Olga", "Ruben"), 10)
    embedded: list[int] = []
    embed = detect.embed_questions

    def note(workspace: Any, memories: Any) -> int:
        embedded.append(len(memories))
        return embed(workspace, memories)

    monkeypatch.setattr(detect, "embed_questions", note)
    queue.work()
    with in_workspace(tenant.workspace):
        assert DetectionDue.objects.filter(run=None).count() == 9
    assert embedded == [3]


def test_where_reading_fails_the_next_has_its_turn_at_once(
    tenant: Tenant, neighbour: Tenant, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(facts: Any, *args: Any, **kwargs: Any) -> Any:
        if any("Locker" in fact.content for fact in facts):
            raise RuntimeError("lockers cannot be read")
        return detective.detect_in_turn(facts, *args, **kwargs)

    monkeypatch.setattr(detect, "detect_in_turn", find)
    flood(tenant)
    contradict(neighbour)
    queue.work()
    assert (runs(tenant), runs(neighbour), cards(neighbour)) == (1, 1, 1)


def test_a_lost_wake_up_is_made_up_for_the_longest_waiting_first(
    tenant: Tenant, neighbour: Tenant, queue: Queue
) -> None:
    contradict(neighbour)
    contradict(tenant)
    queue.waiting.clear()
    tasks.sweep_detection()
    assert list(queue.waiting) == []  # theirs may be on the way still
    later = timezone.now() - turns.PATIENCE - timedelta(seconds=1)
    DetectionLease.objects.filter(workspace=neighbour.workspace).update(due_at=later)
    DetectionLease.objects.filter(workspace=tenant.workspace).update(
        due_at=later + timedelta(microseconds=1)
    )
    tasks.sweep_detection()
    assert [workspace for _, workspace in queue.waiting] == [
        str(neighbour.workspace.pk), str(tenant.workspace.pk),
    ]  # fmt: skip


def test_a_burst_of_commits_wakes_once_and_is_read_in_a_handful_of_runs(
    tenant: Tenant, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commits one by one, each its own transaction, and a worker that comes by twice."""
    monkeypatch.setattr(detect, "TRIGGERS_A_RUN", 500)
    contents = [f"Locker {n} belongs to row {n}." for n in range(200)]
    contents[30], contents[170] = LOW, HIGH
    whole = prepare(
        [Draft(content=content) for content in contents], tenant.workspace.embedding_model
    )
    for number, (draft, digest) in enumerate(zip(whole.drafts, whole.hashes, strict=True)):
        one = Prepared((draft,), (digest,), whole.windows[number : number + 1], whole.model)
        write(tenant.workspace, one, actor=SYSTEM, now=timezone.now(), is_gated=False)
        assert len(queue.waiting) == 1
        if number in {49, 199}:
            queue.work()
    with in_workspace(tenant.workspace):
        done = list(DetectionRun.objects.order_by("created_at"))
        assert DetectionDue.objects.count() == 0
    assert [run.trigger_count for run in done] == [50, 150]
    assert [run.facts_considered for run in done] == [50, 200]
    assert [(run.lag_seconds or 0) > 0 for run in done] == [True, True]
    assert cards(tenant) == 1
    shown = tenant.reader.get("detections").json()["results"]
    assert [run["lag_seconds"] for run in shown] == [run.lag_seconds for run in reversed(done)]
