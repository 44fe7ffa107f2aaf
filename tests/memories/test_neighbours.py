"""The gate's look-up finds what recall's search finds, and reads it whole."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryVector
from memories.services.gate.neighbours import find_neighbours
from memories.services.index import nearest
from tests.conftest import NOW, Tenant
from tests.memories.scale import MODEL, clustered, fill

LIMIT = 5
QUERY = clustered(1, seed=21)[0]


def both(workspace: Workspace, scope: str = "") -> tuple[list[tuple[UUID, float]], list[Memory]]:
    """Return what the gate finds, having held it against the search."""
    with in_workspace(workspace):
        place = Memory.objects.recallable(NOW).filter(scope=scope, project="")
        searched = nearest.nearest(place, QUERY, MODEL, LIMIT)
        found = find_neighbours(QUERY, MODEL, LIMIT, scope=scope, project="", now=NOW).here[:LIMIT]
        assert [(memory.id, cosine) for memory, cosine in found] == list(searched.items())
        read = Memory.objects.in_bulk(list(searched))
        for memory, _ in found:
            stored = read[memory.id]
            assert [getattr(memory, f.attname) for f in Memory._meta.concrete_fields] == [
                getattr(stored, f.attname) for f in Memory._meta.concrete_fields
            ]
    return list(searched.items()), [memory for memory, _ in found]


@pytest.mark.parametrize("exact_max", [10**9, -1])
def test_the_gate_finds_what_search_finds(
    tenant: Tenant, neighbour: Tenant, monkeypatch: pytest.MonkeyPatch, exact_max: int
) -> None:
    monkeypatch.setattr(nearest, "EXACT_MAX", exact_max)
    fill(neighbour.workspace, clustered(30, seed=21), seed=1)
    assert both(tenant.workspace) == ([], [])
    fill(tenant.workspace, clustered(200, seed=22), seed=2)
    fill(tenant.workspace, clustered(60, seed=21), is_forgotten=True, is_marked=False, seed=3)
    few = fill(tenant.workspace, clustered(3, seed=23), scope="attic", seed=4)
    assert len(both(tenant.workspace)[1]) == LIMIT
    assert {memory.id for memory in both(tenant.workspace, "attic")[1]} == set(few)
    assert both(tenant.workspace, "cellar") == ([], [])


def test_windows_expiry_and_metadata_are_read(tenant: Tenant) -> None:
    expired, shown, other = fill(tenant.workspace, clustered(3, seed=24), seed=5)
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=expired).update(expires_at=NOW)
        Memory.objects.filter(pk=shown).update(
            expires_at=NOW + timedelta(seconds=1), metadata={"a": [1, "ä"]}
        )
        MemoryVector.objects.create(memory_id=shown, model=MODEL, position=1, embedding=QUERY)
        MemoryVector.objects.filter(memory=other).update(model="another")
    found, memories = both(tenant.workspace)
    assert [memory.id for memory in memories] == [shown]
    assert memories[0].metadata == {"a": [1, "ä"]}
    assert found[0][1] == pytest.approx(1.0, abs=1e-5)
