"""The current workspace is enforced twice: by managers and by the database itself."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection, models, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.utils import ProgrammingError

from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.lease import Lease
from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import (
    WorkspaceModel,
    WorkspaceNotSetError,
    in_workspace,
    set_database_variable,
)
from predictor.services.state import lock_state
from predictor.services.training.due import REASONS, note_training_due, training_lease
from tests.conftest import NOW, Tenant

# Registries hold no one's text: which workspaces there are, who belongs or is invited, who waits.
REGISTRIES = {
    "kernel.Membership",
    "kernel.Invitation",
    "console.DigestLease",
    "conflicts.DetectionLease",
    "conflicts.NarrativeLease",
    "predictor.TrainingLease",
}


def test_every_table_with_a_workspace_is_confined_by_the_database(db: None) -> None:
    tables = {
        model._meta.db_table
        for model in apps.get_models()
        if model._meta.label not in REGISTRIES
        and any(
            isinstance(field, models.ForeignKey) and field.related_model is Workspace
            for field in model._meta.fields
        )
    }
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class JOIN pg_policies ON tablename = relname"
            " WHERE relrowsecurity AND relforcerowsecurity AND policyname = 'own_workspace'"
        )
        confined = {row[0] for row in cursor.fetchall()}
    assert tables == confined


def test_leases_outside_row_security_have_no_column_for_a_text() -> None:
    leases = [m for m in apps.get_models() if m._meta.label in REGISTRIES and issubclass(m, Lease)]
    texts = {
        f"{model._meta.label}.{field.name}": field.max_length
        for model in leases
        for field in model._meta.local_concrete_fields
        if not isinstance(field, (models.ForeignKey, models.UUIDField, models.DateTimeField))
    }
    assert len(leases) == 4
    assert texts == {"predictor.TrainingLease.reason": 20}  # names only, see the next test


def test_the_reason_of_a_training_is_one_of_its_names(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        state = lock_state(NOW)
        with pytest.raises(ValueError, match="tuple"):
            note_training_due(state, "Tea is at four.", NOW)
        assert training_lease().reason == ""
        for reason in REASONS:
            note_training_due(state, reason, NOW)
        assert training_lease().reason == REASONS[0]


def test_every_confined_table_has_a_scoped_manager(db: None) -> None:
    confined = [m for m in apps.get_models() if issubclass(m, WorkspaceModel)]
    assert len(confined) > 10
    for model in confined:
        with pytest.raises(WorkspaceNotSetError):
            model.objects.all()


def test_application_role_cannot_bypass_row_security(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == (False, False)


def test_raw_sql_sees_only_the_current_workspace(tenant: Tenant, neighbour: Tenant) -> None:
    with in_workspace(tenant.workspace), connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT workspace_id FROM kernel_apikey")
        assert cursor.fetchall() == [(tenant.workspace.pk,)]


def test_raw_sql_outside_a_workspace_sees_nothing(tenant: Tenant) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM kernel_apikey")
        assert cursor.fetchone() == (0,)


def test_writing_into_another_workspace_is_refused_by_the_database(
    tenant: Tenant, neighbour: Tenant
) -> None:
    foreign = Event(
        workspace=neighbour.workspace, type="t", object_type="o", object_id="1",
        actor_kind="system", at=NOW,
    )  # fmt: skip
    with (
        pytest.raises(ProgrammingError, match="row-level security"),
        in_workspace(tenant.workspace),
    ):
        foreign.save()


def test_updating_rows_of_another_workspace_changes_nothing(
    tenant: Tenant, neighbour: Tenant
) -> None:
    with in_workspace(tenant.workspace), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE kernel_apikey SET role = 'admin' WHERE workspace_id = %s",
            [neighbour.workspace.pk],
        )
        assert cursor.rowcount == 0


def test_new_rows_are_stamped_with_the_current_workspace(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        event = record("test.happened", of=("test", "1"), actor=SYSTEM, now=NOW)
    assert event.workspace_id == tenant.workspace.pk


def test_nested_in_another_workspace_is_refused(tenant: Tenant, neighbour: Tenant) -> None:
    with (
        in_workspace(tenant.workspace),
        pytest.raises(RuntimeError, match="one workspace"),
        in_workspace(neighbour.workspace),
    ):
        pass


def test_leaving_a_workspace_hides_its_rows_within_the_same_transaction(tenant: Tenant) -> None:
    with transaction.atomic():
        with in_workspace(tenant.workspace):
            pass
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM kernel_apikey")
            assert cursor.fetchone() == (0,)


def test_a_failed_block_leaves_no_workspace_behind(tenant: Tenant) -> None:
    with pytest.raises(ZeroDivisionError), in_workspace(tenant.workspace):
        _ = 1 / 0
    with pytest.raises(WorkspaceNotSetError):
        Event.objects.all()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM kernel_apikey")
        assert cursor.fetchone() == (0,)


def test_a_digest_reveals_the_one_key_that_it_belongs_to(tenant: Tenant, neighbour: Tenant) -> None:
    with transaction.atomic():
        set_database_variable("engram.key_digest", "0" * 64)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM kernel_apikey")
            assert cursor.fetchone() == (0,)


FUNCTION_STEPS = ("0002_due_workspaces", "0003_functions_of_the_owner")
OUR_FUNCTIONS = """
    SELECT oid::regprocedure::text, has_function_privilege('public', oid, 'execute'), proconfig
    FROM pg_proc WHERE starts_with(proname, 'engram_') ORDER BY 1
"""


def functions() -> dict[str, tuple[bool, list[str] | None]]:
    """Return whether every role may execute each of our functions, and its settings."""
    with connection.cursor() as cursor:
        cursor.execute(OUR_FUNCTIONS)
        return {name: (is_public, config) for name, is_public, config in cursor.fetchall()}


def test_only_the_owner_executes_functions_and_their_schemas_are_pinned(db: None) -> None:
    pinned = (False, ["search_path=pg_catalog, public, pg_temp"])
    assert functions() == {
        "engram_find_key(text)": pinned,
        "engram_due_workspaces(text,integer)": pinned,
    }


def test_a_schema_of_the_caller_hides_no_workspace(tenant: Tenant) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE kernel_workspace (id uuid) ON COMMIT DROP")
        cursor.execute("SET LOCAL search_path = pg_temp, public")
        cursor.execute("SELECT workspace FROM engram_due_workspaces('SELECT now()', NULL)")
        assert cursor.fetchall() == [(tenant.workspace.pk,)]


def test_steps_of_the_functions_can_be_taken_back(db: None) -> None:
    after = functions()
    loader = MigrationLoader(connection)
    steps = [loader.get_migration("kernel", name) for name in FUNCTION_STEPS]
    for step in reversed(steps):
        with connection.schema_editor() as editor:
            step.unapply(loader.project_state(step.dependencies), editor)
    assert set(functions()) == {"engram_find_key(text)", "engram_workspaces_with(regclass)"}
    for step in steps:
        with connection.schema_editor() as editor:
            step.apply(loader.project_state(step.dependencies), editor)
    assert functions() == after
