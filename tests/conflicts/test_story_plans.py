"""A detection run reads the neighbours of what is new by index, however large the workspace is."""

from __future__ import annotations

import pytest
from django.db import connection

from conflicts.services.detection import story
from engram.kernel.planning import without_nested_loops
from engram.kernel.tenancy import in_workspace
from memories.services.index import nearest
from memories.services.index.search_index import ensure_vector_index
from tests.conftest import NOW, Tenant
from tests.memories.scale import MODEL, WIDTH, clustered, fill
from tests.memories.test_plans import Plans


def test_a_long_story_is_read_by_the_graph_and_by_the_terms_of_what_is_new(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = fill(tenant.workspace, clustered(3_000, seed=1), words=6, seed=0)
    ensure_vector_index(MODEL, WIDTH)
    monkeypatch.setattr(nearest, "EXACT_MAX", 100)
    monkeypatch.setattr(story, "RARE_TERM_MEMORIES", 3_000)
    triggers = set(ids[:2])
    plans = Plans()
    with (
        in_workspace(tenant.workspace),
        without_nested_loops(),
        connection.execute_wrapper(plans),
    ):
        read = story.story_ids(triggers, MODEL, NOW)

    assert set(read[:2]) == triggers
    assert len(read) > story.NEIGHBOURS_BY_MEANING
    indexes = {str(node.get("Index Name")) for node in plans.nodes}
    assert any(name.startswith("vector_nearest_") for name in indexes)
    conditions = [
        str(node.get("Index Cond"))
        for node in plans.nodes
        if "posting" in str(node.get("Index Name"))
        or node.get("Relation Name") == "memories_posting"
    ]
    searched = [condition for condition in conditions if condition != "None"]
    assert searched
    assert all("term" in condition or "memory_id" in condition for condition in searched)
    assert not any(
        node["Node Type"] == "Seq Scan"
        for node in plans.nodes
        if node.get("Relation Name") in {"memories_posting", "memories_memoryvector"}
    )
