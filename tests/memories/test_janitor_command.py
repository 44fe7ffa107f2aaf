"""`manage.py janitor`, its weekly wake-up, and two janitors at once."""

from __future__ import annotations

from io import StringIO

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories import tasks
from memories.models import JanitorAction, JanitorRun, Memory
from memories.services.janitor.run import due_workspaces, run
from tests.conftest import NOW, Tenant, build_tenant
from tests.memories.aged import SUBJECTS, age, fresh, remember, stored
from tests.memories.test_concurrency import CALLERS, at_once


@pytest.fixture
def old_tenant(tenant: Tenant) -> Tenant:
    """Return a workspace whose recall log is old enough."""
    age(tenant.workspace)
    return tenant


def run_command(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("janitor", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_dry_run_tells_and_changes_nothing(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace, "\x1b[31mRed\x1b[0m lamps are for the dark room.")
    before = stored(old_tenant.workspace)
    assert run_command("--workspace", "acme", "--dry-run") == [
        "acme: 1 unused memories examined, 1 would be demoted, 0 would be hidden, 0 reported only.",
        f"  demote  {memory.pk}  weight 1.00 → 0.90, confidence 1.00 → 0.80",
    ]
    assert stored(old_tenant.workspace) == before


def test_long_lists_are_cut_and_say_so(old_tenant: Tenant) -> None:
    for content in SUBJECTS:
        remember(old_tenant.workspace, content)
    lines = run_command("--dry-run", "--list", "2")
    assert (len(lines), lines[-1]) == (4, "  and 4 more")


def test_a_run_tells_its_numbers_and_its_id(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    lines = run_command("--workspace", "acme")
    with in_workspace(old_tenant.workspace):
        done = JanitorRun.objects.get()
    assert lines == [
        "acme: 1 unused memories examined, 1 demoted, 0 hidden, 0 reported only.",
        f"  run {done.pk}",
    ]
    assert fresh(old_tenant.workspace, memory).weight_factor == 0.9


def test_cull_is_a_flag(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    with in_workspace(old_tenant.workspace):
        Memory.objects.update(demotion_count=3)
    run_command("--workspace", "acme", "--cull")
    assert fresh(old_tenant.workspace, memory).state() == "culled"


def test_without_a_workspace_all_that_want_a_janitor_get_one(
    old_tenant: Tenant, neighbour: Tenant
) -> None:
    age(neighbour.workspace)
    ours, theirs = remember(old_tenant.workspace), remember(neighbour.workspace)
    old_tenant.admin.patch("workspace/settings", {"janitor_enabled": False})
    assert [line.split(":")[0] for line in run_command() if not line.startswith(" ")] == ["zenith"]
    assert fresh(old_tenant.workspace, ours).weight_factor == 1.0
    assert fresh(neighbour.workspace, theirs).weight_factor == 0.9
    run_command("--workspace", "acme")
    assert fresh(old_tenant.workspace, ours).weight_factor == 0.9


def test_unknown_workspace_is_named(db: None) -> None:
    with pytest.raises(CommandError, match="There is no workspace 'nowhere'"):
        run_command("--workspace", "nowhere")


def test_the_weekly_wake_up_is_scheduled_and_runs_what_is_due(old_tenant: Tenant) -> None:
    assert settings.CELERY_BEAT_SCHEDULE["memories.janitor"]["task"] == tasks.wake_janitor.name
    memory = remember(old_tenant.workspace)
    assert due_workspaces(timezone.now()) == [old_tenant.workspace.pk]
    tasks.run_janitor(str(old_tenant.workspace.pk))
    assert fresh(old_tenant.workspace, memory).demotion_count == 1
    assert due_workspaces(timezone.now()) == []
    tasks.run_janitor(str(old_tenant.workspace.pk))
    assert fresh(old_tenant.workspace, memory).demotion_count == 1


def test_janitors_at_once_demote_once(transactional_db: None) -> None:
    tenant = build_tenant("busy")
    age(tenant.workspace)
    memories = [remember(tenant.workspace, content) for content in SUBJECTS]
    runs = at_once(lambda n: run(tenant.workspace, actor=SYSTEM, now=NOW))
    assert len(runs) == CALLERS
    assert sum(done.demoted for done in runs) == len(SUBJECTS)
    with in_workspace(tenant.workspace):
        assert JanitorAction.objects.count() == len(SUBJECTS)
    assert {fresh(tenant.workspace, memory).demotion_count for memory in memories} == {1}
