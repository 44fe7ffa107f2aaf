"""Pairs of which one replaces the other: read while filing is locked, by few queries."""

from __future__ import annotations

from uuid import UUID

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import Judgement
from conflicts.services.cards.judged import replaced_pairs
from engram.kernel.tenancy import in_workspace
from tests.conflicts.test_replaces import commit
from tests.conftest import Tenant

Pair = tuple[str, str]


def write_pairs(tenant: Tenant, count: int) -> list[Pair]:
    """Commit pairs of memories of which one is said to replace the other."""
    pairs = [
        (
            commit(tenant.agent, f"Hall {number} of the museum shows coins."),
            commit(tenant.agent, f"Ship {number} of the company carries grain."),
        )
        for number in range(count)
    ]
    with in_workspace(tenant.workspace):
        Judgement.objects.bulk_create(
            Judgement(
                memory_id=new, other_id=old, relation="replaces", agent="scribe",
                created_at=timezone.now(),
            )
            for new, old in pairs
        )  # fmt: skip
    return pairs


def read(tenant: Tenant, pairs: list[Pair]) -> set[frozenset[UUID]]:
    with in_workspace(tenant.workspace):
        return replaced_pairs({UUID(one) for pair in pairs for one in pair})


def as_set(pair: Pair) -> frozenset[UUID]:
    return frozenset(map(UUID, pair))


def test_six_pairs_cost_the_queries_of_two(tenant: Tenant) -> None:
    pairs = write_pairs(tenant, 6)

    def queries(some: list[Pair]) -> int:
        with CaptureQueriesContext(connection) as caught:
            assert read(tenant, some) == set(map(as_set, some))
        return len(caught)

    assert queries(pairs) == queries(pairs[:2])


def test_what_was_said_of_a_former_text_counts_no_more(tenant: Tenant) -> None:
    first, second, third = pairs = write_pairs(tenant, 3)
    changes = {
        first[0]: {"content": "The pier is closed."},
        second[1]: {"content": "The hall is closed."},
        third[1]: {"importance": 0.9},
    }
    for memory, change in changes.items():
        assert tenant.agent.patch(f"memories/{memory}", change).status_code == 200
    assert read(tenant, pairs) == {as_set(third)}
