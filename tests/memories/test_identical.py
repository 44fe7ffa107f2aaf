"""Very many memories with the same vector: a search of the graph does not end among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.index import nearest
from tests.conftest import NOW, Tenant
from tests.memories.scale import MODEL, clustered, fill


def test_a_search_that_finds_only_identical_vectors_is_repeated_by_a_scan(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    same, others = clustered(1, seed=7), clustered(40, seed=8)
    alike = fill(tenant.workspace, np.repeat(same, 60, axis=0), seed=0)
    ids = fill(tenant.workspace, others, seed=1)
    cosine = float(same[0] @ others[5])

    # What the graph finds there varies from one to the next, so its answer is given.
    def lost(*_: Any, **__: Any) -> tuple[dict[Any, float], bool]:
        return dict.fromkeys(alike[:50], cosine), True

    monkeypatch.setattr(nearest, "EXACT_MAX", 0)
    monkeypatch.setattr(nearest, "_by_graph", lost)
    with in_workspace(tenant.workspace):
        some = Memory.objects.recallable(NOW)
        found = list(nearest.nearest(some, others[5], MODEL, 20))
        exact = list(nearest.nearest_among(some, others[5], MODEL, 20))

    assert found[0] == ids[5]
    assert found == exact


def test_a_graph_that_misses_a_memory_of_a_small_place_is_not_its_whole_answer(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tenant.workspace, clustered(60, seed=7), seed=0)
    ids = fill(tenant.workspace, clustered(12, seed=8), scope="attic", seed=1)
    query = clustered(1, seed=9)[0]
    find = nearest._rows

    # Which memories a graph does not reach varies from one to the next: the nearest is left out.
    def without_the_nearest(statement: str, *given: Any, **words: str) -> list[Any]:
        return find(statement, *given, **words)[1:]

    monkeypatch.setattr(nearest, "EXACT_MAX", 0)
    monkeypatch.setattr(nearest, "_rows", without_the_nearest)
    with in_workspace(tenant.workspace):
        place = Memory.objects.recallable(NOW).filter(scope="attic")
        found = list(nearest.nearest(place, query, MODEL, 10))
        exact = list(nearest.nearest_among(place, query, MODEL, 10))

    assert set(exact) <= set(ids)
    assert found == exact
