"""What a queryset asks of a row, asked in plain SQL, is the same question."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import QuerySet

from engram.kernel.plain_sql import condition_of
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.recall.query import Query, match_query
from tests.conftest import NOW, Tenant
from tests.memories.scale import clustered, fill

Rows = Callable[[], QuerySet[Memory]]
HERE = Query(text="", scope="attic/50%", project="a'b", kinds=("semantic", "decision"))


def selected(rows: QuerySet[Memory]) -> set[UUID]:
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
