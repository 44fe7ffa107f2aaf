"""A worker that is killed (kill -9) half-way through a transcript loses and doubles no fact."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from engram.kernel import job_queue
from engram.kernel.models import Event, Job
from engram.kernel.tenancy import in_workspace
from memories.models import ExtractedQuote, Extraction, ExtractionRefusal, Memory
from memories.services.extraction import run
from memories.services.extraction.queue import KIND
from tests.conftest import Tenant, build_tenant
from tests.killing import kill_at
from tests.memories.test_extraction_jobs import OWNS, TALK, queue, show

RUN, WRITE = "memories.services.extraction.run", "memories.services.extraction.write"
# Where the worker dies, and whether the job was done for good by then.
STEPS = {
    "after taking the job": (RUN, "job_queue.acquire", "after", False),
    "after reading the transcript": (RUN, "read_by_rules", "after", False),
    "before writing": (WRITE, "_write", "before", False),
    "after committing the facts": (WRITE, "commit.write", "after", False),
    "after the refusals, before the job ends": (WRITE, "job_queue.finish", "before", False),
    "after the job has ended, before the commit": (WRITE, "job_queue.finish", "after", False),
    "after the commit": (RUN, "write_reading", "after", True),
}


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that other processes see."""
    return build_tenant("busy")


def written(tenant: Tenant) -> dict[str, Any]:
    """Return what an extraction leaves behind, with how often."""
    with in_workspace(tenant.workspace):
        return {
            "facts": Counter(Memory.objects.values_list("content", flat=True)),
            "quotes": Counter(ExtractedQuote.objects.values_list("text", flat=True)),
            "refusals": Counter(ExtractionRefusal.objects.values_list("text", flat=True)),
            "finished": Event.objects.filter(type="extraction.finished").count(),
            "transcripts": list(Extraction.objects.values_list("transcript", flat=True)),
        }


def sweep(tenant: Tenant, now: datetime, monkeypatch: pytest.MonkeyPatch) -> int:
    """Wake workers as the sweep does, and let one do what it is woken for; return what ended."""
    woken: list[Any] = []
    with monkeypatch.context() as patched:
        patched.setattr(job_queue, "wake", lambda task, *ids: woken.append((task, *ids)))
        job_queue.wake_stalled(now)
    if not woken:
        return 0
    assert woken == [("memories.extract", tenant.workspace.pk)]
    return run.extract_turn(tenant.workspace.pk, clock=lambda: now, seconds=60, may_ask=False)


@pytest.mark.parametrize("step", STEPS)
def test_no_fact_is_lost_and_none_is_there_twice(
    shared_tenant: Tenant, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = build_tenant("calm")
    queue(undisturbed.agent)
    run.extract_turn(undisturbed.workspace.pk, clock=timezone.now, seconds=60, may_ask=False)
    expected = written(undisturbed)
    assert expected["facts"][OWNS] == 1
    assert expected["refusals"]

    module, name, when, is_done = STEPS[step]
    job = queue(shared_tenant.agent)
    kill_at(shared_tenant, "memories.tasks.extract_workspace", module, name, when)
    left = written(shared_tenant)
    if is_done:
        assert left == expected
    else:
        assert (left["facts"], left["quotes"], left["refusals"]) == (Counter(),) * 3
        assert (left["transcripts"], left["finished"]) == ([TALK], 0)
        assert show(shared_tenant.agent, job)["status"] == "running"
        assert sweep(shared_tenant, timezone.now(), monkeypatch) == 0  # it may be at work
        late = timezone.now() + Job.silence + timedelta(seconds=1)
        assert sweep(shared_tenant, late, monkeypatch) == 1
        assert written(shared_tenant) == expected
    shown = show(shared_tenant.agent, job)
    assert (shown["status"], shown["progress"]) == ("done", 1.0)
    assert len(shown["result"]["kept"]) == sum(expected["facts"].values())
    assert sweep(shared_tenant, timezone.now() + timedelta(days=1), monkeypatch) == 0


@pytest.mark.parametrize(
    ("name", "when"),
    [("Describing.go_on", "after"), ("read_by_rules", "before"), ("read_by_rules", "after")],
)
def test_a_worker_that_dies_in_a_later_turn_loses_only_that_turn(
    shared_tenant: Tenant, name: str, when: str
) -> None:
    undisturbed = build_tenant("calm")
    queue(undisturbed.agent)
    run.extract_turn(undisturbed.workspace.pk, clock=timezone.now, seconds=60, may_ask=False)

    def turn(now: datetime, seconds: float) -> int:
        pk = shared_tenant.workspace.pk
        return run.extract_turn(pk, clock=lambda: now, seconds=seconds, may_ask=False)

    job = queue(shared_tenant.agent)
    for _ in range(3):
        assert turn(timezone.now(), 0) == 0
    with in_workspace(shared_tenant.workspace):
        kept = Extraction.objects.get().described
    assert len(kept["described"]) == 3
    kill_at(shared_tenant, "memories.tasks.extract_workspace", RUN, name, when)
    assert show(shared_tenant.agent, job)["status"] == "running"
    with in_workspace(shared_tenant.workspace):
        assert Extraction.objects.get().described == kept
    assert turn(timezone.now() + Job.silence + timedelta(seconds=1), 60) == 1
    assert written(shared_tenant) == written(undisturbed)


def test_a_transcript_at_which_every_worker_dies_fails_and_is_deleted(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queue(shared_tenant.agent)
    kill_at(shared_tenant, "memories.tasks.extract_workspace", RUN, "read_by_rules", "before")
    now = timezone.now()
    for _ in range(job_queue.ATTEMPTS_MAX - 1):
        now += Job.silence + timedelta(seconds=1)
        assert job_queue.acquire(shared_tenant.workspace, KIND, now) is not None  # and dies
    now += Job.silence + timedelta(seconds=1)
    sweep(shared_tenant, now, monkeypatch)
    shown = show(shared_tenant.agent, job)
    assert (shown["status"], shown["error"]) == ("failed", job_queue.GIVEN_UP)
    left = written(shared_tenant)
    assert (left["facts"], left["transcripts"]) == (Counter(), [""])
    assert sweep(shared_tenant, now + timedelta(days=1), monkeypatch) == 0
