"""Taking back what the janitor did: exactly, or not at all."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import JanitorAction, JanitorRun, Memory, MemoryVector
from memories.services.janitor.run import run
from memories.services.janitor.undo import undo_action, undo_run
from memories.services.lifecycle.forget import forget
from tests.conftest import NOW, Tenant
from tests.memories.aged import SUBJECTS, WEEK, age, fresh, remember


@pytest.fixture
def old_tenant(tenant: Tenant) -> Tenant:
    """Return a workspace whose recall log is old enough."""
    age(tenant.workspace)
    return tenant


def rows(tenant: Tenant) -> list[Any]:
    with in_workspace(tenant.workspace):
        return list(Memory.objects.order_by("pk").values())


def test_undoing_a_run_returns_every_memory_exactly(old_tenant: Tenant) -> None:
    for content in SUBJECTS:
        remember(old_tenant.workspace, content)
    run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    before = rows(old_tenant)
    second = run(old_tenant.workspace, actor=SYSTEM, now=NOW + WEEK)
    assert rows(old_tenant) != before
    undo_run(old_tenant.workspace, second.pk, actor=SYSTEM, now=NOW + WEEK)
    assert rows(old_tenant) == before
    with in_workspace(old_tenant.workspace):
        told = Event.objects.filter(type="memory.demotion_undone")
        assert told.count() == len(SUBJECTS)
        assert Event.objects.get(type="janitor.undone").data == {"undone": 6}
        assert not JanitorAction.objects.filter(run=second, undone_at=None).exists()


def test_undoing_a_cull_brings_the_memory_back(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    for week in range(3):
        run(old_tenant.workspace, actor=SYSTEM, now=NOW + week * WEEK)
    before = fresh(old_tenant.workspace, memory)
    culling = run(old_tenant.workspace, actor=SYSTEM, now=NOW + 3 * WEEK, may_cull=True)
    undo_run(old_tenant.workspace, culling.pk, actor=SYSTEM, now=NOW + 3 * WEEK)
    after = fresh(old_tenant.workspace, memory)
    assert after.state() == "active"
    assert (after.weight_factor, after.demotion_count) == (before.weight_factor, 3)
    with in_workspace(old_tenant.workspace):
        assert list(MemoryVector.objects.values_list("is_live", flat=True)) == [True]


def test_one_action_can_be_undone_alone(old_tenant: Tenant) -> None:
    kept, returned = (remember(old_tenant.workspace, content) for content in SUBJECTS[:2])
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    with in_workspace(old_tenant.workspace):
        action = JanitorAction.objects.get(memory=returned)
    undo_action(old_tenant.workspace, action.pk, actor=SYSTEM, now=NOW)
    assert fresh(old_tenant.workspace, returned).weight_factor == 1.0
    assert fresh(old_tenant.workspace, kept).weight_factor == 0.9
    with pytest.raises(StaleError):
        undo_action(old_tenant.workspace, action.pk, actor=SYSTEM, now=NOW)
    undo_run(old_tenant.workspace, done.pk, actor=SYSTEM, now=NOW)
    assert fresh(old_tenant.workspace, kept).weight_factor == 1.0


def test_undo_is_refused_whole_when_one_memory_changed_since(old_tenant: Tenant) -> None:
    changed, other = (remember(old_tenant.workspace, content) for content in SUBJECTS[:2])
    first = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    with in_workspace(old_tenant.workspace):
        Memory.objects.filter(pk=other.pk).update(recall_count=1)
    run(old_tenant.workspace, actor=SYSTEM, now=NOW + WEEK)
    before = rows(old_tenant)
    with pytest.raises(StaleError) as refused:
        undo_run(old_tenant.workspace, first.pk, actor=SYSTEM, now=NOW + WEEK)
    assert refused.value.ids == [str(changed.pk)]
    assert rows(old_tenant) == before
    with in_workspace(old_tenant.workspace):
        assert JanitorRun.objects.get(pk=first.pk).undone_at is None


def test_undo_does_not_come_twice_and_not_for_nothing(old_tenant: Tenant) -> None:
    empty = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    with pytest.raises(StaleError):
        undo_run(old_tenant.workspace, empty.pk, actor=SYSTEM, now=NOW)
    remember(old_tenant.workspace)
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    undo_run(old_tenant.workspace, done.pk, actor=SYSTEM, now=NOW)
    with pytest.raises(StaleError):
        undo_run(old_tenant.workspace, done.pk, actor=SYSTEM, now=NOW)


def test_cull_is_not_undone_when_the_statement_was_committed_again(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    with in_workspace(old_tenant.workspace):
        Memory.objects.update(demotion_count=3)
    culling = run(old_tenant.workspace, actor=SYSTEM, now=NOW, may_cull=True)
    again = remember(old_tenant.workspace, at=NOW)
    assert again.pk != memory.pk
    with pytest.raises(StaleError, match="committed again"):
        undo_run(old_tenant.workspace, culling.pk, actor=SYSTEM, now=NOW)
    assert fresh(old_tenant.workspace, memory).state() == "culled"


def test_a_forgotten_memory_stays_forgotten_when_its_demotion_is_undone(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    forget(old_tenant.workspace, [memory.pk], actor=SYSTEM, now=NOW)
    undo_run(old_tenant.workspace, done.pk, actor=SYSTEM, now=NOW)
    after = fresh(old_tenant.workspace, memory)
    assert (after.state(), after.weight_factor) == ("forgotten", 1.0)


def test_what_was_undone_is_old_again_only_after_its_days(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    undo_run(old_tenant.workspace, done.pk, actor=SYSTEM, now=NOW)
    assert run(old_tenant.workspace, actor=SYSTEM, now=NOW + timedelta(days=89)).demoted == 0
    assert run(old_tenant.workspace, actor=SYSTEM, now=NOW + timedelta(days=90)).demoted == 1
    assert fresh(old_tenant.workspace, memory).weight_factor == 0.9


def test_runs_and_actions_of_another_workspace_do_not_exist(
    old_tenant: Tenant, neighbour: Tenant
) -> None:
    age(neighbour.workspace)
    memory = remember(neighbour.workspace)
    theirs = run(neighbour.workspace, actor=SYSTEM, now=NOW)
    with in_workspace(neighbour.workspace):
        action = JanitorAction.objects.get()
    with pytest.raises(MissingError):
        undo_run(old_tenant.workspace, theirs.pk, actor=SYSTEM, now=NOW)
    with pytest.raises(MissingError):
        undo_action(old_tenant.workspace, action.pk, actor=SYSTEM, now=NOW)
    assert fresh(neighbour.workspace, memory).weight_factor == 0.9
