"""The day's account of what language models cost, and its cap."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from engram.kernel.llm import Usage
from engram.kernel.models import ModelSpend, Workspace
from engram.kernel.spend import next_day, reserve, settle, spent_usd
from engram.kernel.tenancy import in_workspace
from tests.conftest import NOW, Tenant


def test_what_was_reserved_gives_way_to_what_it_cost(tenant: Tenant, neighbour: Tenant) -> None:
    kept = reserve(tenant.workspace, 0.4, now=NOW)
    assert kept is not None
    assert spent_usd(tenant.workspace, now=NOW) == pytest.approx(0.4)
    settle(tenant.workspace, kept, usage=Usage(100, 20, 2), cost_usd=0.1)
    with in_workspace(tenant.workspace):
        row = ModelSpend.objects.get()
    assert (row.day, row.calls, row.tokens) == (NOW.date(), 2, 120)
    assert row.cost_usd == pytest.approx(0.1)
    assert spent_usd(neighbour.workspace, now=NOW) == 0.0


def test_the_cap_holds_for_a_workspace_and_a_day(tenant: Tenant, neighbour: Tenant) -> None:
    assert reserve(tenant.workspace, 0.7, now=NOW)
    assert reserve(tenant.workspace, 0.4, now=NOW) is None
    assert reserve(neighbour.workspace, 0.4, now=NOW)
    assert reserve(tenant.workspace, 0.3, now=NOW)
    assert reserve(tenant.workspace, 0.4, now=NOW + timedelta(days=1))


def test_a_cap_of_nothing_lets_free_models_work(tenant: Tenant) -> None:
    tenant.admin.patch("workspace/settings", {"narrative_daily_usd": 0})
    workspace = Workspace.objects.get(pk=tenant.workspace.pk)
    assert reserve(workspace, 0.0, now=NOW)
    assert reserve(workspace, 0.000001, now=NOW) is None


def test_the_next_day_begins_at_midnight_utc() -> None:
    late = datetime.fromisoformat("2026-05-04T23:30:00-02:00")
    assert next_day(late) == datetime(2026, 5, 6, tzinfo=UTC)


@pytest.mark.django_db(transaction=True)
def test_calls_at_once_do_not_pass_the_cap_together() -> None:
    workspace = Workspace.objects.create(slug="busy", name="Busy")

    def one(_: int) -> bool:
        try:
            return reserve(workspace, 0.25, now=NOW) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        reserved = list(pool.map(one, range(16)))
    assert sum(reserved) == 4
    assert spent_usd(workspace, now=NOW) == pytest.approx(1.0)
