"""Token states are kept with the vectors, follow the wording, and are filled in where missing."""

from __future__ import annotations

import numpy as np
import pytest

from engram.kernel.embedding import embed_query, embed_windows
from engram.kernel.tenancy import in_workspace
from memories.core import late
from memories.models import Memory, MemoryTokens
from memories.services.index.pending import fill_tokens
from memories.services.index.tokens import WINDOWS_READ, tokens_of
from memories.tasks import embed_pending
from tests.conftest import Tenant

MODEL = "all-MiniLM-L6-v2"
HERON = "The heron nests on the boathouse roof."


def commit(tenant: Tenant, content: str) -> str:
    memory_id: str = tenant.agent.post("memories", {"content": content}).json()["memory"]["id"]
    return memory_id


def expected(content: str) -> list[np.ndarray]:
    """Return the token states of each window of a text."""
    tokens = embed_windows([content])[0].tokens
    assert tokens is not None
    return [late.choose(window.states, window.words) for window in tokens]


def states_of_all(query: str) -> list[list[np.ndarray]]:
    """Return what recall reads of each memory for a query."""
    ids = Memory.objects.values_list("pk", flat=True)
    return list(tokens_of(ids, embed_query(query), MODEL).values())


def test_a_commit_keeps_the_states_of_its_words(tenant: Tenant, neighbour: Tenant) -> None:
    memory_id = commit(tenant, HERON)
    with in_workspace(tenant.workspace):
        [row] = MemoryTokens.objects.all()
        assert (str(row.memory_id), row.model, row.width) == (memory_id, MODEL, 384)
        [[stored]] = states_of_all(HERON)
    assert np.array_equal(stored, expected(HERON)[0])
    with in_workspace(neighbour.workspace):
        assert MemoryTokens.objects.count() == 0


def test_a_new_wording_replaces_them_and_erasing_drops_them(tenant: Tenant) -> None:
    memory_id = commit(tenant, HERON)
    tenant.agent.patch(f"memories/{memory_id}", {"content": "Payroll runs on Mondays."})
    with in_workspace(tenant.workspace):
        [[stored]] = states_of_all("payroll")
    assert np.array_equal(stored, expected("Payroll runs on Mondays.")[0])
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


FILLER = "The river is quiet and the boathouse stands open in the morning. "


def test_recall_reads_the_windows_of_a_long_memory_that_are_nearest(tenant: Tenant) -> None:
    commit(tenant, FILLER * 80 + HERON + FILLER * 20)
    embed_pending()
    with in_workspace(tenant.workspace):
        windows = expected(Memory.objects.get().content)
        assert MemoryTokens.objects.count() == len(windows) >= 4
        [stored] = states_of_all("where does the heron nest on the roof?")
    assert len(stored) == WINDOWS_READ
    positions = [
        next(n for n, window in enumerate(windows) if np.array_equal(window, one)) for one in stored
    ]
    assert len(windows) - 2 in positions or len(windows) - 3 in positions  # where the heron is


@pytest.mark.parametrize("before", [0, 40, 110])
def test_a_fact_is_found_wherever_it_stands_in_a_long_text(tenant: Tenant, before: int) -> None:
    text = FILLER * before + HERON + " " + FILLER * (110 - before)
    commit(tenant, text)
    commit(tenant, FILLER * 110 + "Payroll runs on Mondays.")
    embed_pending()
    body = {"query": "Where does the heron nest?", "explain": True, "min_score": None}
    first, second = tenant.reader.post("memories/recall", body).json()["results"]
    assert first["memory"]["content"] == text
    assert first["explain"]["late"] > 2 * second["explain"]["late"]


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
