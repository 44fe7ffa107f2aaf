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
    def lost(*_: Any, **__: Any) -> dict[Any, float]:
        return dict.fromkeys(alike[:50], cosine)

    monkeypatch.setattr(nearest, "EXACT_MAX", 0)
    monkeypatch.setattr(nearest, "_by_graph", lost)
    with in_workspace(tenant.workspace):
        some = Memory.objects.recallable(NOW)
        found = list(nearest.nearest(some, others[5], MODEL, 20))
        exact = list(nearest.nearest_among(some, others[5], MODEL, 20))

    assert found[0] == ids[5]
    assert found == exact
