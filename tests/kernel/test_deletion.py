"""A workspace is deleted: closed at once, emptied in batches, and nowhere afterwards."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel import deletion
from engram.kernel.actors import SYSTEM
from engram.kernel.deletion import close_workspace, delete_turn, wake_stalled
from engram.kernel.due import due_workspaces
from engram.kernel.models import (
    ApiKey,
    Event,
    Membership,
    Role,
    Workspace,
)
from engram.kernel.refusals import InvalidError
from engram.kernel.tenancy import in_workspace
from engram.kernel.workspace_deletions import WorkspaceDeletion
from engram.kernel.workspace_rows import count_rows, tables_left, workspace_tables
from memories.models import Memory
from tests.conftest import NOW, Tenant, build_tenant
from tests.killing import kill_at

# Tables without a workspace, and why they hold nothing of one.
WITHOUT_WORKSPACE = {
    "kernel_workspace": "the workspaces themselves",
    "kernel_workspacedeletion": "ids, times and counts of deletions",
    "kernel_workerpulse": "processes",
    "kernel_knownaddress": "addresses of accounts, hashed",
    "auth_user": "accounts, which belong to the installation",
    "auth_user_groups": "accounts",
    "auth_user_user_permissions": "accounts",
    "auth_group": "accounts",
    "auth_group_permissions": "accounts",
    "auth_permission": "of Django",
    "django_admin_log": "of Django; nothing is written, see `RoleAdmin`",
    "django_content_type": "of Django",
    "django_migrations": "of Django",
    "django_session": "sign-ins, with the id of a workspace at most",
    "axes_accessattempt": "failed sign-ins",
    "axes_accessattemptexpiration": "failed sign-ins",
    "axes_accessfailurelog": "failed sign-ins",
    "axes_accesslog": "sign-ins; nothing is written",
}


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.json()
    memory_id: str = answer.json()["memory"]["id"]
    return memory_id


def close(tenant: Tenant, now: datetime = NOW) -> WorkspaceDeletion:
    return close_workspace(tenant.workspace, tenant.workspace.slug, actor=SYSTEM, now=now)


def delete(row: WorkspaceDeletion, now: datetime = NOW, seconds: float = 60) -> bool:
    return delete_turn(row.pk, clock=lambda: now, seconds=seconds)


def test_no_table_of_the_database_is_forgotten(db: None) -> None:
    """A table that names a workspace is emptied; any other says above why it holds nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        names = {row[0] for row in cursor.fetchall()}
    emptied = {model._meta.db_table for model in workspace_tables()}
    assert names == emptied | set(WITHOUT_WORKSPACE)
    assert not emptied & set(WITHOUT_WORKSPACE)


def test_tables_come_before_those_that_they_refer_to() -> None:
    order = {model: place for place, model in enumerate(workspace_tables())}
    references = 0
    for model, place in order.items():
        for field in model._meta.local_fields:
            target = field.related_model
            if isinstance(field, models.ForeignKey) and target in order and target is not model:
                assert place < order[target], (model, field.name)
                references += 1
    assert references > 50
    assert len(order) == len([m for m in apps.get_models() if m in order])


def test_every_reference_is_found_by_an_index(db: None) -> None:
    """Each deleted row is looked for in the tables that refer to it, those of others too."""
    missing = []
    with connection.cursor() as cursor:
        for model in workspace_tables():
            for field in model._meta.local_fields:
                if not isinstance(field, models.ForeignKey) or field.related_model is Workspace:
                    continue
                if not field.db_constraint:  # nothing is looked for
                    continue
                cursor.execute(
                    "SELECT count(*) FROM pg_index JOIN pg_attribute ON attrelid = indrelid"
                    " AND attnum = indkey[0] WHERE indrelid = %s::regclass AND attname = %s"
                    " AND indpred IS NULL",
                    [model._meta.db_table, field.column],
                )
                if not cursor.fetchone()[0]:
                    missing.append(f"{model._meta.db_table}.{field.column}")
    assert missing == []


def test_the_slug_must_be_typed_exactly(tenant: Tenant) -> None:
    for typed in ("", "Acme", "acm", "acme ", "zenith"):
        with pytest.raises(InvalidError, match="slug"):
            close_workspace(tenant.workspace, typed, actor=SYSTEM, now=NOW)
    assert not WorkspaceDeletion.objects.exists()
    assert Workspace.objects.get(pk=tenant.workspace.pk).closed_at is None


def test_it_is_closed_at_once(tenant: Tenant, neighbour: Tenant) -> None:
    commit(tenant, "The billing service runs on PostgreSQL.")
    row = close(tenant)
    assert (row.status, row.progress) == ("queued", 0.0)
    for role in Role.values:
        answer = tenant.caller(role).get("memories")
        assert answer.status_code == 410
        assert answer.json()["type"] == "/problems/workspace-closed"
        assert answer.json()["title"] == "Workspace closed"
    assert tenant.agent.post("memories", {"content": "Too late."}).status_code == 410
    assert tenant.reader.get("workspace/deletion").status_code == 403
    assert neighbour.reader.get("memories").status_code == 200
    assert list(Workspace.objects.all()) == [neighbour.workspace]
    assert Workspace.objects.filter(slug="acme").count() == 0
    Workspace.objects.create(slug="acme", name="The next one")  # its slug is free


def test_sweeps_pass_over_it(tenant: Tenant, neighbour: Tenant) -> None:
    for each in (tenant, neighbour):
        commit(each, "The billing service runs on PostgreSQL.")
    both = {one.pk for one in due_workspaces(Memory.objects.all, "created_at")}
    assert both == {tenant.workspace.pk, neighbour.workspace.pk}
    close(tenant)
    assert due_workspaces(Memory.objects.all, "created_at") == [neighbour.workspace]


def test_all_its_rows_go_and_only_its(tenant: Tenant, neighbour: Tenant) -> None:
    for each in (tenant, neighbour):
        first = commit(each, "The billing service runs on PostgreSQL 15.")
        commit(each, "The billing service runs on PostgreSQL 17.", supersedes=first)
    with in_workspace(neighbour.workspace):
        before = count_rows(neighbour.workspace.pk)
    assert before[Memory] == 2
    row = close(tenant)
    assert delete(row)
    row.refresh_from_db()
    assert (row.status, row.progress, row.due_at, row.holder) == ("done", 1.0, None, None)
    assert row.rows_deleted == row.rows_total > 20
    assert not Workspace.with_closed.filter(pk=tenant.workspace.pk).exists()
    with in_workspace(tenant.workspace.pk):
        assert tables_left(tenant.workspace.pk) == []
        assert not Event.objects.exists()
    with in_workspace(neighbour.workspace):
        assert count_rows(neighbour.workspace.pk) == before
    assert tenant.admin.get("workspace/deletion").status_code == 401
    assert delete(row)  # again: nothing to do


def test_batches_end_when_the_time_is_over_and_go_on(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "BATCH_ROWS", 2)
    for number in range(5):
        commit(tenant, f"Shelf {number} holds {number * 7} jars.")
    row, turns, seen = close(tenant), 0, [0]
    while not delete(row, seconds=0):
        row.refresh_from_db()
        assert row.rows_deleted >= seen[-1]
        assert 0 < row.progress < 1
        seen.append(row.rows_deleted)
        turns += 1
        assert turns < 1000
    assert turns > 10
    row.refresh_from_db()
    assert row.rows_deleted == row.rows_total


def test_the_number_of_statements_does_not_grow_with_the_rows(db: None) -> None:
    def statements(slug: str, rows: int) -> int:
        tenant = build_tenant(slug)
        for number in range(rows):
            commit(tenant, f"Shelf {number} holds {number * 7} jars.")
        row = close(tenant)
        with CaptureQueriesContext(connection) as captured:
            assert delete(row)
        return len(captured)

    one, many = statements("one", 1), statements("many", 30)
    # Only a write of the progress more for each table that has rows now.
    assert many - one <= 2 * len(workspace_tables())


def test_one_worker_at_a_time_and_a_dead_one_is_replaced(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = close(tenant)
    WorkspaceDeletion.objects.update(holder=row.pk, heartbeat_at=NOW)  # somebody does it
    woken: list[Any] = []
    monkeypatch.setattr(deletion, "wake", lambda task, *ids: woken.append((task, *ids)))
    wake_stalled(NOW)
    assert (woken, delete(row)) == ([], False)
    late = NOW + WorkspaceDeletion.silence + timedelta(seconds=1)
    wake_stalled(late)
    assert woken == [(deletion.TASK, row.pk)]
    assert delete(row, late)
    wake_stalled(late)
    assert len(woken) == 1


def test_a_failure_is_told_and_tried_again(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tenant, "The vault word is zyzzyvaquux.")
    row = close(tenant)
    with monkeypatch.context() as broken:

        def fail(*args: Any, **kwargs: Any) -> int:
            raise RuntimeError("zyzzyvaquux")

        broken.setattr(deletion, "tables_left", fail)
        assert not delete(row)
    row.refresh_from_db()
    assert (row.error, row.failures, row.holder) == ("RuntimeError", 1, None)
    assert row.due_at == NOW + deletion.FIRST_PAUSE
    assert tenant.admin.get("workspace/deletion").json()["error"] == "RuntimeError"
    assert delete(row, NOW + timedelta(minutes=1))
    row.refresh_from_db()
    assert (row.error, row.failures, row.status) == ("", 0, "done")


def test_a_table_that_no_model_names_keeps_it_from_ending(tenant: Tenant) -> None:
    row = close(tenant)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE forgotten (workspace_id uuid, word text)")
        cursor.execute("INSERT INTO forgotten VALUES (%s, 'canary')", [tenant.workspace.pk])
    assert not delete(row)
    row.refresh_from_db()
    assert row.error == "Rows are left in forgotten."
    assert Workspace.with_closed.filter(pk=tenant.workspace.pk).exists()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM forgotten")
    assert delete(row, NOW + timedelta(minutes=1))


def test_by_the_api(tenant: Tenant, neighbour: Tenant) -> None:
    path = "workspace/deletion"
    assert tenant.admin.get(path).status_code == 404
    for role in ("reader", "agent", "reviewer"):
        assert tenant.caller(role).post(path, {"slug": "acme"}).status_code == 403
    wrong = tenant.admin.post(path, {"slug": "zenith"})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "slug")
    for body in ({}, {"slug": None}, {"slug": "x" * 65}, {"slug": "acme", "force": True}):
        assert tenant.admin.post(path, body).status_code == 422
    answer = tenant.admin.post(path, {"slug": "acme"})
    assert answer.status_code == 202
    again = tenant.admin.post(path, {"slug": "acme"})
    assert (again.status_code, again.json()) == (202, answer.json())
    shown = tenant.admin.get(path).json()
    assert shown == answer.json()
    assert (shown["status"], shown["rows_total"], shown["error"]) == ("queued", None, "")
    assert neighbour.admin.get(path).status_code == 404
    assert WorkspaceDeletion.objects.count() == 1


def test_a_workspace_that_came_back_is_deleted_again(tenant: Tenant) -> None:
    """An archive brings back the same id: its earlier deletion is another one's."""
    path, workspace = "workspace/deletion", tenant.workspace
    earlier = close(tenant, NOW + timedelta(days=1))  # the clock is set back afterwards
    assert delete(earlier)
    back = build_tenant("acme", pk=workspace.pk)
    assert back.workspace.pk == workspace.pk
    assert back.admin.get(path).status_code == 404
    answer = back.admin.post(path, {"slug": "acme"})
    assert answer.status_code == 202
    assert answer.json()["id"] != str(earlier.pk)
    assert back.admin.post(path, {"slug": "acme"}).json() == answer.json()
    assert back.admin.get(path).json() == answer.json()
    later = WorkspaceDeletion.objects.get(pk=answer.json()["id"])
    assert delete(earlier)  # a wake-up that came late does nothing
    assert Workspace.with_closed.filter(pk=workspace.pk).exists()
    assert delete(later)
    assert not Workspace.with_closed.filter(pk=workspace.pk).exists()


def test_it_is_deleted_once_at_a_time(tenant: Tenant) -> None:
    row = close(tenant)
    with pytest.raises(IntegrityError, match="one_deletion_at_a_time"), transaction.atomic():
        WorkspaceDeletion.objects.create(
            target=row.target, caller=row.caller, requested_at=NOW, due_at=NOW
        )


def test_a_key_that_was_revoked_is_told_nothing(tenant: Tenant) -> None:
    close(tenant)
    with in_workspace(tenant.workspace):
        ApiKey.objects.update(revoked_at=NOW)
    assert tenant.admin.get("workspace/deletion").status_code == 401


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that other processes see."""
    return build_tenant("busy")


ROWS = "engram.kernel.deletion"
# Where the worker dies, and whether the workspace was gone by then.
STEPS = {
    "after counting": ("count_rows", "after", False),
    "within the first batch": ("unlink_rows", "after", False),
    "after deleting, before the commit": ("delete_rows", "after", False),
    "before the last transaction": ("_Worker._remove_workspace", "before", False),
    "within the last transaction": ("tables_left", "after", False),
    "after the last transaction": ("_Worker._remove_workspace", "after", True),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_worker_is_replaced(
    shared_tenant: Tenant, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        commit(shared_tenant, f"Shelf {number} holds {number * 7} jars.")
    name, when, is_gone = STEPS[step]
    row = close(shared_tenant, timezone.now())
    kill_at(row.pk, "engram.kernel.tasks.delete_workspace", ROWS, name, when)
    assert Workspace.with_closed.filter(pk=shared_tenant.workspace.pk).exists() is not is_gone
    now = timezone.now()
    assert delete(row, now) is is_gone  # it may be at work
    assert delete(row, now + WorkspaceDeletion.silence + timedelta(seconds=1))
    row.refresh_from_db()
    assert (row.status, row.rows_deleted) == ("done", row.rows_total)
    with in_workspace(shared_tenant.workspace.pk):
        assert tables_left(shared_tenant.workspace.pk) == []


def write_late(tenant: Tenant) -> None:
    """Write as a request does that was let in before; it is refused at the commit."""
    with in_workspace(tenant.workspace.pk):
        Event.objects.create(
            type="late", object_type="o", object_id="1", actor_kind="system", at=NOW
        )


def test_who_writes_while_it_is_deleted_is_refused_without_traces(shared_tenant: Tenant) -> None:
    """A request that was let in before: its rows go too, or are never there."""
    row = close(shared_tenant, timezone.now())
    write_late(shared_tenant)
    assert delete(row, timezone.now())
    with pytest.raises(IntegrityError, match="foreign key"):
        write_late(shared_tenant)
    with in_workspace(shared_tenant.workspace.pk):
        assert tables_left(shared_tenant.workspace.pk) == []


def test_members_lose_it_and_keep_their_account(tenant: Tenant, member: Any) -> None:
    client = member("admin")
    assert client.get("/").status_code == 200
    row = close(tenant)
    assert client.get("/").headers["Location"] == "/console/no-workspace/"
    assert "acme" not in client.get("/console/no-workspace/").content.decode().lower()
    assert delete(row)
    assert not Membership.objects.exists()
    assert client.get("/console/no-workspace/").status_code == 200
