"""What a queryset asks of a row, asked in plain SQL, is the same question."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import QuerySet

from engram.kernel.plain_sql import Selection, condition_of, rows_of
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.recall.query import (
    Query,
    match_pins,
    match_query,
    select_pins,
    select_recallable,
)
from tests.conftest import NOW, Tenant
from tests.memories.scale import clustered, fill

Rows = Callable[[], QuerySet[Memory]]
HERE = Query(text="", scope="attic/50%", project="a'b", kinds=("semantic", "decision"))


def selected(rows: QuerySet[Memory] | Selection[Memory]) -> set[UUID]:
    """Ask for the ids with the condition written into a statement."""
    condition = condition_of(rows)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id FROM memories_memory WHERE {condition.sql}",  # noqa: S608
            condition.parameters,
        )
        return {memory_id for (memory_id,) in cursor.fetchall()}


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        (Memory.objects.all, 12),
        (lambda: Memory.objects.recallable(NOW), 9),
        (lambda: Memory.objects.recallable(NOW).filter(match_query(HERE)), 4),
        (lambda: Memory.objects.recallable_then(NOW + timedelta(days=1)), 9),
        (lambda: Memory.objects.filter(pk__in=[]), 0),
    ],
    ids=["all", "recallable", "place", "joined", "none"],
)
def test_condition_selects_what_the_queryset_selects(
    tenant: Tenant, neighbour: Tenant, rows: Rows, count: int
) -> None:
    for seed, where in ((0, tenant), (10, neighbour)):
        fill(where.workspace, clustered(5, seed=1), seed=seed + 1)
        fill(where.workspace, clustered(4, seed=2), seed=seed + 2, scope="attic/50%")
        fill(where.workspace, clustered(3, seed=3), seed=seed + 3, is_forgotten=True)
        with in_workspace(where.workspace):
            Memory.objects.filter(scope=HERE.scope).update(project=HERE.project)
    with in_workspace(tenant.workspace):
        asked = rows()
        found = selected(asked)
        assert found == set(asked.values_list("pk", flat=True))
        assert len(found) == count
        assert condition_of(asked) is condition_of(asked)


def test_condition_of_a_limit_is_refused(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace), pytest.raises(ValueError, match="limit"):
        condition_of(Memory.objects.all()[:3])


def test_the_condition_of_a_query_is_that_of_its_time_and_workspace(
    tenant: Tenant, neighbour: Tenant
) -> None:
    for seed, where in ((0, tenant), (10, neighbour)):
        fill(where.workspace, clustered(6, seed=1), seed=seed + 1)
        with in_workspace(where.workspace):
            first, second, *_ = Memory.objects.order_by("pk")
            Memory.objects.filter(pk=first.pk).update(expires_at=NOW + timedelta(hours=1))
            Memory.objects.filter(pk=second.pk).update(is_pinned=True, scope="team")
    query, team = Query(text=""), Query(text="", scope="team")
    for where in (tenant, neighbour):
        for now, count in ((NOW, 6), (NOW + timedelta(hours=2), 5)):
            with in_workspace(where.workspace):
                rows = select_recallable(query, now)
                assert selected(rows) == set(rows.queryset.values_list("pk", flat=True))
                assert len(selected(rows)) == count
                pins = Memory.objects.recallable(now).filter(match_query(team), match_pins(team))
                assert select_pins(team, now) == condition_of(pins.filter(is_pinned=True))


def test_rows_are_read_by_id_within_their_workspace(tenant: Tenant, neighbour: Tenant) -> None:
    ids = fill(tenant.workspace, clustered(3, seed=1), seed=1)
    others = fill(neighbour.workspace, clustered(2, seed=2), seed=2)
    with in_workspace(tenant.workspace):
        assert rows_of(Memory, [*ids[:2], *others]) == Memory.objects.in_bulk(ids[:2])
        row = rows_of(Memory, ids[:1])[ids[0]]
        assert row.__dict__.keys() >= Memory.objects.get(pk=ids[0]).__dict__.keys()
        assert row.metadata == {}
        assert row.observed_at == Memory.objects.get(pk=row.pk).observed_at
