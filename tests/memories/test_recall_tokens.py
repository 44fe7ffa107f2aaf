"""Token states are kept with the vectors, follow the wording, and are filled in where missing."""

from __future__ import annotations

import numpy as np
import pytest

from engram.kernel.embedding import embed_windows
from engram.kernel.tenancy import in_workspace
from memories.core import late
from memories.models import Memory, MemoryTokens
from memories.services.index.pending import fill_tokens
from memories.services.index.tokens import tokens_of
from memories.tasks import embed_pending
from tests.conftest import Tenant

MODEL = "all-MiniLM-L6-v2"
HERON = "The heron nests on the boathouse roof."


def commit(tenant: Tenant, content: str) -> str:
    memory_id: str = tenant.agent.post("memories", {"content": content}).json()["memory"]["id"]
    return memory_id


def expected(content: str) -> np.ndarray:
    tokens = embed_windows([content])[0].tokens
    assert tokens is not None
    return late.choose(tokens.states, tokens.words)


def test_a_commit_keeps_the_states_of_its_words(tenant: Tenant, neighbour: Tenant) -> None:
    memory_id = commit(tenant, HERON)
    with in_workspace(tenant.workspace):
        [row] = MemoryTokens.objects.all()
        assert (str(row.memory_id), row.model, row.width) == (memory_id, MODEL, 384)
        [stored] = tokens_of([row.memory_id], MODEL).values()
    assert np.array_equal(stored, expected(HERON))
    with in_workspace(neighbour.workspace):
        assert MemoryTokens.objects.count() == 0


def test_a_new_wording_replaces_them_and_erasing_drops_them(tenant: Tenant) -> None:
    memory_id = commit(tenant, HERON)
    tenant.agent.patch(f"memories/{memory_id}", {"content": "Payroll runs on Mondays."})
    with in_workspace(tenant.workspace):
        [stored] = tokens_of(Memory.objects.values_list("pk", flat=True), MODEL).values()
    assert np.array_equal(stored, expected("Payroll runs on Mondays."))
    assert tenant.admin.delete(f"memories/{memory_id}").status_code == 204
    with in_workspace(tenant.workspace):
        assert MemoryTokens.objects.count() == 0


def test_the_sweep_fills_in_what_was_stored_before(tenant: Tenant, neighbour: Tenant) -> None:
    for place in (tenant, neighbour):
        commit(place, HERON)
        with in_workspace(place.workspace):
            MemoryTokens.objects.all().delete()
    body = {"query": "where does the heron nest", "explain": True}
    [bare] = tenant.reader.post("memories/recall", body).json()["results"]
    assert (bare["explain"]["late"], bare["explain"]["rerank"]) == (None, "on")
    assert bare["explain"]["late_weight"] == 0
    assert fill_tokens(tenant.workspace) == 1
    assert fill_tokens(tenant.workspace) == 0
    [filled] = tenant.reader.post("memories/recall", body).json()["results"]
    assert filled["explain"]["late"] > 0.5
    with in_workspace(neighbour.workspace):
        assert MemoryTokens.objects.count() == 0
    embed_pending()
    with in_workspace(neighbour.workspace):
        assert MemoryTokens.objects.count() == 1


def test_the_sweep_passes_over_the_forgotten(tenant: Tenant) -> None:
    memory_id = commit(tenant, HERON)
    tenant.agent.post("memories/forget", {"ids": [memory_id], "confirm": True})
    with in_workspace(tenant.workspace):
        MemoryTokens.objects.all().delete()
    assert fill_tokens(tenant.workspace) == 0


def test_a_long_memory_keeps_a_bounded_number(tenant: Tenant) -> None:
    commit(tenant, "The heron nests on the boathouse roof near the quiet river. " * 120)
    with in_workspace(tenant.workspace):
        [row] = MemoryTokens.objects.all()
    assert 100 < row.count <= late.MEMORY_TOKENS


def test_without_a_model_that_tells_tokens_the_second_stage_is_off(
    tenant: Tenant, settings: pytest.FixtureRequest
) -> None:
    commit(tenant, HERON)
    tenant.workspace.embedding_model = "elsewhere-embed"
    tenant.workspace.save()
    settings.ENGRAM_EMBEDDING = {  # nobody listens there
        "provider": "openai", "model": "elsewhere-embed", "base_url": "http://127.0.0.1:9/v1",
        "api_key": "", "timeout_seconds": 0.2,
    }  # fmt: skip
    body = {"query": "where does the heron nest", "explain": True}
    [result] = tenant.reader.post("memories/recall", body).json()["results"]
    assert result["explain"]["rerank"].startswith("off: this embedding model")
    assert (result["explain"]["late"], result["explain"]["text_weight"]) == (None, 1.0)
    assert fill_tokens(tenant.workspace) == 0
