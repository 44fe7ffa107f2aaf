"""The janitor at work: what it does, does once, and takes back (census pitfall 22)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.core.janitor import ActionKind
from memories.models import JanitorAction, JanitorRun, Memory, MemoryVector, RecallRecord
from memories.services.janitor.run import preview, run, run_when_due
from memories.services.lifecycle import forget
from memories.services.recall.recall import Query, recall
from tests.conftest import NOW, Tenant
from tests.memories.aged import LONG_AGO, SUBJECTS, WEEK, age, fresh, remember, stored

Numbers = tuple[float, float, int]


def numbers(tenant: Tenant, memory: Memory) -> Numbers:
    row = fresh(tenant.workspace, memory)
    return row.weight_factor, row.confidence_factor, row.demotion_count


@pytest.fixture
def old_tenant(tenant: Tenant) -> Tenant:
    """Return a workspace whose recall log is old enough."""
    age(tenant.workspace)
    return tenant


def test_unused_old_memory_is_demoted_once_and_history_tells(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    assert (done.examined, done.demoted, done.culled, done.reported) == (1, 1, 0, 0)
    after = fresh(old_tenant.workspace, memory)
    assert numbers(old_tenant, memory) == (0.9, 0.8, 1)
    assert after.demoted_at == NOW
    assert (after.confidence, after.provenance, after.updated_at) == (
        memory.confidence, memory.provenance, memory.updated_at,
    )  # fmt: skip
    with in_workspace(old_tenant.workspace):
        event = Event.objects.get(object_id=str(memory.pk), type="memory.demoted")
        assert event.data == {"run": str(done.pk), "demotions": 1}
        told = Event.objects.get(object_id=str(done.pk), type="janitor.ran")
        assert told.data["demoted"] == 1


def test_dry_run_mutates_nothing_and_the_run_does_exactly_what_it_said(old_tenant: Tenant) -> None:
    workspace = old_tenant.workspace
    for number, content in enumerate(SUBJECTS):
        remember(
            workspace,
            content,
            provenance=("assistant_derived", "episode_summary", "user_stated")[number % 3],
            is_pinned=number == 1,
        )
    before = stored(workspace)
    with CaptureQueriesContext(connection) as queries:
        said = preview(workspace, now=NOW)
    assert stored(workspace) == before
    assert not [q["sql"] for q in queries if q["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
    done = run(workspace, actor=SYSTEM, now=NOW)
    assert (said.examined, said.demoted, said.culled, said.reported) == (
        done.examined, done.demoted, done.culled, done.reported,
    )  # fmt: skip
    assert (done.demoted, done.reported) == (3, 3)
    for finding in said.findings:
        row = fresh(workspace, finding.memory)
        assert (row.weight_factor, row.confidence_factor) == (
            finding.verdict.weight_factor, finding.verdict.confidence_factor,
        )  # fmt: skip
    with in_workspace(workspace):
        touched = set(JanitorAction.objects.values_list("memory_id", flat=True))
    planned = {f.memory.pk for f in said.findings if f.verdict.action == ActionKind.DEMOTE}
    assert touched == planned


def test_running_twice_in_a_week_does_not_demote_twice(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    again = run(old_tenant.workspace, actor=SYSTEM, now=NOW + WEEK - timedelta(seconds=1))
    assert (again.examined, again.demoted) == (1, 0)
    assert numbers(old_tenant, memory) == (0.9, 0.8, 1)
    run(old_tenant.workspace, actor=SYSTEM, now=NOW + WEEK)
    assert numbers(old_tenant, memory) == (0.81, 0.64, 2)


@pytest.mark.parametrize("counter", ["recall_count", "hit_count", "used_count"])
def test_what_was_of_use_is_left_alone(old_tenant: Tenant, counter: str) -> None:
    memory = remember(old_tenant.workspace)
    with in_workspace(old_tenant.workspace):
        Memory.objects.update(**{counter: 1})
    assert run(old_tenant.workspace, actor=SYSTEM, now=NOW).examined == 0
    assert numbers(old_tenant, memory) == (1.0, 1.0, 0)


def test_being_injected_alone_is_no_use(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    with in_workspace(old_tenant.workspace):
        Memory.objects.update(injected_count=5)
    run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    assert numbers(old_tenant, memory) == (0.9, 0.8, 1)


def test_a_recall_that_is_not_counted_yet_counts(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    recall(old_tenant.workspace, Query(SUBJECTS[0]), now=NOW)
    with in_workspace(old_tenant.workspace):
        assert RecallRecord.objects.get().memory_ids == [memory.pk]
    assert preview(old_tenant.workspace, now=NOW).demoted == 0
    assert run(old_tenant.workspace, actor=SYSTEM, now=NOW).demoted == 0
    assert numbers(old_tenant, memory) == (1.0, 1.0, 0)


def test_recalled_after_a_demotion_loses_nothing_more_and_keeps_what_it_lost(
    old_tenant: Tenant,
) -> None:
    memory = remember(old_tenant.workspace)
    run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    recall(old_tenant.workspace, Query(SUBJECTS[0]), now=NOW + timedelta(days=1))
    run(old_tenant.workspace, actor=SYSTEM, now=NOW + 2 * WEEK)
    assert numbers(old_tenant, memory) == (0.9, 0.8, 1)


def test_user_stated_and_pinned_are_never_culled(old_tenant: Tenant) -> None:
    workspace = old_tenant.workspace
    spared = [
        remember(workspace, SUBJECTS[0], provenance="user_stated"),
        remember(workspace, SUBJECTS[1], is_pinned=True),
        remember(workspace, SUBJECTS[2], kind="constraint"),
    ]
    with in_workspace(workspace):
        Memory.objects.update(demotion_count=9)
    for week in range(6):
        done = run(workspace, actor=SYSTEM, now=NOW + week * WEEK, may_cull=True)
        assert (done.demoted, done.culled, done.reported) == (0, 0, 3)
    assert {fresh(workspace, memory).state(NOW) for memory in spared} == {"active"}


def test_cull_is_off_by_default_and_needs_three_demotions(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    for week in range(4):
        run(old_tenant.workspace, actor=SYSTEM, now=NOW + week * WEEK)
    assert fresh(old_tenant.workspace, memory).demotion_count == 4
    assert fresh(old_tenant.workspace, memory).state() == "active"
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW + 4 * WEEK, may_cull=True)
    assert (done.demoted, done.culled) == (0, 1)
    assert fresh(old_tenant.workspace, memory).state() == "culled"
    with in_workspace(old_tenant.workspace):
        assert list(MemoryVector.objects.values_list("is_live", flat=True)) == [False]
        event = Event.objects.get(type="memory.culled")
        assert event.data == {"run": str(done.pk)}
    assert recall(old_tenant.workspace, Query(SUBJECTS[0]), now=NOW + 4 * WEEK).results == ()


def test_culling_waits_for_the_third_demotion(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    verbs = []
    for week in range(5):
        done = run(old_tenant.workspace, actor=SYSTEM, now=NOW + week * WEEK, may_cull=True)
        verbs.append((done.demoted, done.culled))
    assert verbs == [(1, 0), (1, 0), (1, 0), (0, 1), (0, 0)]
    assert fresh(old_tenant.workspace, memory).demotion_count == 3


def test_settings_say_how_long_and_whether_culled(old_tenant: Tenant) -> None:
    workspace = old_tenant.workspace
    memory = remember(workspace, at=NOW - timedelta(days=40))
    assert run(workspace, actor=SYSTEM, now=NOW).examined == 0
    tenant_admin = old_tenant.admin
    tenant_admin.patch("workspace/settings", {"janitor_assistant_days": 30, "janitor_culls": True})
    workspace.refresh_from_db()
    workspace.__dict__.pop("config", None)
    with in_workspace(workspace):
        Memory.objects.update(demotion_count=3)
    assert run(workspace, actor=SYSTEM, now=NOW).culled == 1
    assert fresh(workspace, memory).state() == "culled"


def test_nothing_is_old_before_the_recall_log_is(tenant: Tenant) -> None:
    age(tenant.workspace, NOW - timedelta(days=89))
    memory = remember(tenant.workspace, at=NOW - timedelta(days=800))
    assert run(tenant.workspace, actor=SYSTEM, now=NOW).examined == 0
    assert run(tenant.workspace, actor=SYSTEM, now=NOW + timedelta(days=1)).demoted == 1
    assert numbers(tenant, memory) == (0.9, 0.8, 1)


def test_only_what_can_be_recalled_is_looked_at(old_tenant: Tenant) -> None:
    workspace = old_tenant.workspace
    gone = remember(workspace, SUBJECTS[0])
    remember(workspace, SUBJECTS[1], expires_at=NOW - timedelta(days=1))
    forget.forget(workspace, [gone.pk], actor=SYSTEM, now=LONG_AGO)
    assert run(workspace, actor=SYSTEM, now=NOW).examined == 0


def test_another_workspace_is_not_touched(old_tenant: Tenant, neighbour: Tenant) -> None:
    age(neighbour.workspace)
    theirs = remember(neighbour.workspace)
    remember(old_tenant.workspace)
    before = stored(neighbour.workspace)
    assert run(old_tenant.workspace, actor=SYSTEM, now=NOW).demoted == 1
    assert stored(neighbour.workspace) == before
    assert numbers(neighbour, theirs) == (1.0, 1.0, 0)


def test_batches_reach_every_memory_once(old_tenant: Tenant, monkeypatch: Any) -> None:
    for module in ("janitor.scan", "janitor.undo"):
        name = "BATCH" if module == "janitor.scan" else "CHUNK"
        monkeypatch.setattr(f"memories.services.{module}.{name}", 2)
    ids = [remember(old_tenant.workspace, content).pk for content in SUBJECTS[:5]]
    said = preview(old_tenant.workspace, now=NOW)
    assert sorted(f.memory.pk for f in said.findings) == sorted(ids)
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    assert (done.examined, done.demoted) == (5, 5)
    with in_workspace(old_tenant.workspace):
        assert set(Memory.objects.values_list("demotion_count", flat=True)) == {1}


def test_preview_pages_follow_each_other(old_tenant: Tenant) -> None:
    for content in SUBJECTS:
        remember(old_tenant.workspace, content)
    whole = [f.memory.pk for f in preview(old_tenant.workspace, now=NOW).findings]
    first = preview(old_tenant.workspace, now=NOW, limit=4)
    rest = preview(old_tenant.workspace, now=NOW, limit=4, after=first.findings[-1].memory.pk)
    assert [f.memory.pk for f in [*first.findings, *rest.findings]] == whole
    assert (first.has_more, rest.has_more) == (True, False)
    assert first.demoted == rest.demoted == 6


def test_weekly_run_is_due_once_a_week_and_can_be_switched_off(old_tenant: Tenant) -> None:
    workspace = old_tenant.workspace
    remember(workspace)
    assert run_when_due(workspace, now=NOW) is not None
    assert run_when_due(workspace, now=NOW + timedelta(days=6)) is None
    second = run_when_due(workspace, now=NOW + WEEK)
    assert second is not None
    assert (second.demoted, second.actor_label) == (1, "engram")
    workspace.settings = {"janitor_enabled": False}
    workspace.__dict__.pop("config", None)
    assert run_when_due(workspace, now=NOW + 3 * WEEK) is None


def test_weekly_run_leaves_young_workspaces_alone(tenant: Tenant) -> None:
    age(tenant.workspace, NOW - timedelta(days=60))
    assert run_when_due(tenant.workspace, now=NOW) is None
    with in_workspace(tenant.workspace):
        assert not JanitorRun.objects.exists()


def test_as_many_queries_for_many_memories_as_for_one(old_tenant: Tenant) -> None:
    remember(old_tenant.workspace, SUBJECTS[0])
    with CaptureQueriesContext(connection) as one:
        run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    for content in SUBJECTS[1:]:
        remember(old_tenant.workspace, content)
    with CaptureQueriesContext(connection) as many:
        run(old_tenant.workspace, actor=SYSTEM, now=NOW + timedelta(days=1))
    assert len(many) == len(one)
