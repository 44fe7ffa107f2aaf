"""Which workspaces have something due: one statement, and row-level security stays as it is."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from engram.kernel.due import due_workspaces, waiting_since
from engram.kernel.models import LatencyHour
from engram.kernel.tenancy import WorkspaceNotSetError, for_any_workspace, in_workspace
from tests.conftest import NOW, Tenant

rows = partial(LatencyHour.objects.filter, stage="late")


def add(tenant: Tenant, *hours: int, stage: str = "late") -> None:
    """Write rows that have waited for so many hours."""
    with in_workspace(tenant.workspace):
        LatencyHour.objects.bulk_create(
            LatencyHour(stage=stage, hour=NOW - timedelta(hours=h), counts=[]) for h in hours
        )


def test_who_has_waited_longest_comes_first(tenant: Tenant, neighbour: Tenant) -> None:
    add(tenant, 2, 4)
    add(neighbour, 3, 9)
    with CaptureQueriesContext(connection) as asked:
        found = waiting_since(rows, "hour")
    assert list(found.items()) == [
        (neighbour.workspace.pk, NOW - timedelta(hours=9)),
        (tenant.workspace.pk, NOW - timedelta(hours=4)),
    ]
    assert len(asked) == 1
    assert due_workspaces(rows, "hour") == [neighbour.workspace, tenant.workspace]


def test_a_workspace_without_such_rows_is_not_named(tenant: Tenant, neighbour: Tenant) -> None:
    add(tenant, 2)
    add(neighbour, 2, stage="recall' OR true --")
    assert due_workspaces(rows, "hour") == [tenant.workspace]
    odd = partial(LatencyHour.objects.filter, stage="recall' OR true --")
    assert due_workspaces(odd, "hour") == [neighbour.workspace]


def test_it_stops_after_as_many_as_were_asked_for(tenant: Tenant, neighbour: Tenant) -> None:
    add(tenant, 2)
    add(neighbour, 3)
    assert len(waiting_since(rows, "hour", most=1)) == 1


def test_the_workspace_being_served_stays_so(tenant: Tenant, neighbour: Tenant) -> None:
    add(tenant, 2)
    add(neighbour, 3)
    with in_workspace(tenant.workspace):
        assert len(waiting_since(rows, "hour")) == 2
        assert LatencyHour.objects.filter(stage="late").count() == 1


def test_what_is_asked_of_any_workspace_shows_nothing_outside_of_the_scan(tenant: Tenant) -> None:
    add(tenant, 2)
    with for_any_workspace():
        built: QuerySet[LatencyHour] = rows()
    assert list(built) == []
    with pytest.raises(WorkspaceNotSetError):
        rows()
