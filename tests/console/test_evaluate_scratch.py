"""Workspaces that never were."""

from django.db import connection

from engram.console.scratch import (
    commit_rows,
    refresh_statistics,
    roll_back,
    scratch_workspace,
)
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.commit.draft import Draft
from tests.conftest import NOW
from tests.homes import eventually


def planned_rows():
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (FORMAT JSON) SELECT * FROM memories_memory")
        return cursor.fetchone()[0][0]["Plan"]["Plan Rows"]


def test_planner_knows_the_rows_of_the_scratch_workspace(db):
    with scratch_workspace() as workspace:
        drafts = [Draft(content=f"Locker {n} holds umbrellas.") for n in range(40)]
        commit_rows(workspace, drafts, now=NOW, is_gated=False)
        assert eventually(refresh_statistics)  # autovacuum may hold the locks for a while
        with in_workspace(workspace):
            known = planned_rows()
            assert Memory.objects.count() == 40

    assert known == 40
    assert Workspace.objects.count() == 0


def test_statistics_do_not_wait_for_somebody_else(db):
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("LOCK TABLE memories_memory IN SHARE UPDATE EXCLUSIVE MODE")
    try:
        with roll_back():
            assert not refresh_statistics()
            assert Workspace.objects.count() == 0  # the transaction goes on
    finally:
        other.rollback()
        other.close()
