"""Long texts: a caller waits for their first windows only, the rest is embedded behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from engram.kernel import embedding, jobs
from engram.kernel.actors import SYSTEM
from engram.kernel.embedding import FIRST_WINDOWS
from engram.kernel.minilm import MiniLM
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryTokens, MemoryVector
from memories.services.commit.commit import commit
from memories.services.commit.draft import Draft
from memories.services.index import pending
from memories.tasks import embed_pending, embed_workspace
from tests.conftest import NOW, Tenant

LONG = "".join(chr(0x4E00 + (7919 * n) % 20_000) for n in range(3_000))  # each a token
WINDOWS = 16
MIDDLE, MIDDLE_WINDOWS = LONG[:800], 4  # where there are several texts
END = "The vault code word is heliotrope."


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the windows of each pass of the model."""
    passes: list[int] = []
    whole = MiniLM._read

    def counted(self: MiniLM, encodings: Sequence[Any], **options: Any) -> Any:
        passes.append(len(encodings))
        return whole(self, encodings, **options)

    monkeypatch.setattr(MiniLM, "_read", counted)
    return passes


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    sent: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(
        jobs.app, "send_task", lambda name, *, args, retry: sent.append((name, args))
    )
    return sent


def stored(tenant: Tenant) -> list[int]:
    """Return the positions of all windows that are stored, in order."""
    with in_workspace(tenant.workspace):
        assert MemoryTokens.objects.count() == MemoryVector.objects.count()
        return list(MemoryVector.objects.order_by("position").values_list("position", flat=True))


def say(tenant: Tenant, content: str) -> dict[str, Any]:
    memory: dict[str, Any] = tenant.agent.post("memories", {"content": content}).json()["memory"]
    return memory


def shown(tenant: Tenant, memory: dict[str, Any]) -> bool:
    is_pending: bool = tenant.reader.get(f"memories/{memory['id']}").json()["embedding_pending"]
    return is_pending


def test_a_commit_embeds_the_first_windows_and_a_task_the_rest(
    tenant: Tenant,
    read: list[int],
    woken: list[tuple[str, list[str]]],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        memory = say(tenant, LONG)
    assert sum(read) == FIRST_WINDOWS
    assert (memory["embedding_pending"], shown(tenant, memory)) == (True, True)
    assert stored(tenant) == list(range(FIRST_WINDOWS))
    [wake_up] = [args for name, args in woken if name == "memories.embed_workspace"]

    embed_workspace(*wake_up)

    assert stored(tenant) == list(range(WINDOWS))
    assert shown(tenant, memory) is False
    read.clear()
    embed_workspace(*wake_up)
    assert read == []  # nothing is due any more


def test_the_end_of_a_long_text_is_found_by_its_words_at_once_and_by_its_meaning_later(
    tenant: Tenant,
) -> None:
    memory = say(tenant, f"{LONG} {END}")

    def cosine(query: str) -> float:
        body = {"query": query, "record": False, "min_score": None}
        [found] = tenant.reader.post("memories/recall", body).json()["results"]
        assert found["memory"]["id"] == memory["id"]
        return float(found["cosine"])

    before = cosine("heliotrope")
    assert pending.embed_pending(tenant.workspace) == 1
    assert cosine("heliotrope") > before + 0.1


def test_a_short_text_is_embedded_whole(
    tenant: Tenant, woken: list[tuple[str, list[str]]], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        memory = say(tenant, END)
    assert memory["embedding_pending"] is False
    assert "memories.embed_workspace" not in [name for name, _ in woken]


def test_a_text_that_cannot_be_embedded_is_stored_found_by_its_words_and_embedded_later(
    tenant: Tenant, settings: Any
) -> None:
    """Pitfall 15."""
    usual = settings.ENGRAM_EMBEDDING
    settings.ENGRAM_EMBEDDING = {"provider": "none", "model": tenant.workspace.embedding_model}
    memory = say(tenant, END)
    assert (memory["embedding_pending"], stored(tenant)) == (True, [])
    found = tenant.reader.post("memories/recall", {"query": "heliotrope"}).json()["results"]
    assert [row["memory"]["id"] for row in found] == [memory["id"]]

    settings.ENGRAM_EMBEDDING = usual
    embed_pending()  # the scheduler's sweep

    assert (shown(tenant, memory), stored(tenant)) == (False, [0])


def test_the_texts_of_a_batch_share_the_windows_that_are_waited_for(
    tenant: Tenant,
    read: list[int],
    woken: list[tuple[str, list[str]]],
    django_capture_on_commit_callbacks: Any,
) -> None:
    bodies = [{"content": f"{n} {LONG}"} for n in range(6)]
    with django_capture_on_commit_callbacks(execute=True):
        answer = tenant.agent.post("memories/batch", {"memories": bodies}).json()
    assert sum(read) == 6
    assert [row["memory"]["embedding_pending"] for row in answer["results"]] == [True] * 6
    assert [name for name, _ in woken].count("memories.embed_workspace") == 1


def test_a_new_wording_embeds_its_first_windows_too(tenant: Tenant, read: list[int]) -> None:
    memory = say(tenant, END)
    read.clear()
    changed = tenant.agent.patch(f"memories/{memory['id']}", {"content": LONG}).json()
    assert (sum(read), changed["embedding_pending"]) == (FIRST_WINDOWS, True)
    pending.embed_pending(tenant.workspace)
    assert stored(tenant) == list(range(WINDOWS))
    back = tenant.agent.patch(f"memories/{memory['id']}", {"content": END}).json()
    assert (back["embedding_pending"], stored(tenant)) == (False, [0])


def test_a_killed_turn_loses_nothing_and_doubles_nothing(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(3):
        commit(tenant.workspace, Draft(content=f"{n} {MIDDLE}"), actor=SYSTEM, now=NOW)
    monkeypatch.setattr(pending, "CHARS_A_STEP", 1)
    whole = pending._write
    turns: list[int] = []

    def killed(*given: Any) -> int:
        if turns:
            raise KeyboardInterrupt
        turns.append(1)
        return whole(*given)

    monkeypatch.setattr(pending, "_write", killed)
    with pytest.raises(KeyboardInterrupt):
        pending.embed_pending(tenant.workspace)
    monkeypatch.setattr(pending, "_write", whole)
    assert pending.embed_pending(tenant.workspace) == 2
    assert sorted(stored(tenant)) == sorted([*range(MIDDLE_WINDOWS)] * 3)


def test_a_turn_leaves_the_rest_to_the_next_wake_up(
    tenant: Tenant,
    neighbour: Tenant,
    woken: list[tuple[str, list[str]]],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    for n in range(3):
        commit(tenant.workspace, Draft(content=f"{n} {MIDDLE}"), actor=SYSTEM, now=NOW)
    commit(neighbour.workspace, Draft(content=MIDDLE), actor=SYSTEM, now=NOW)
    monkeypatch.setattr(pending, "CHARS_A_STEP", 1)
    monkeypatch.setattr(pending, "TURN_SECONDS", 1e-9)
    with django_capture_on_commit_callbacks(execute=True):
        embed_workspace(str(tenant.workspace.pk))
    [first] = woken
    assert first == ("memories.embed_workspace", [str(tenant.workspace.pk)])
    with in_workspace(tenant.workspace):
        assert Memory.objects.filter(is_embedding_due=True).count() == 3
    monkeypatch.setattr(pending, "TURN_SECONDS", 60.0)
    embed_workspace(*first[1])
    with in_workspace(tenant.workspace):
        assert Memory.objects.filter(is_embedding_due=True).count() == 0
    with in_workspace(neighbour.workspace):
        assert Memory.objects.filter(is_embedding_due=True).count() == 1
    embed_pending()  # the sweep finds what was not woken
    with in_workspace(neighbour.workspace):
        assert Memory.objects.filter(is_embedding_due=True).count() == 0


def test_two_workers_do_not_embed_the_same_at_once(tenant: Tenant, read: list[int]) -> None:
    commit(tenant.workspace, Draft(content=LONG), actor=SYSTEM, now=NOW)
    read.clear()
    with pending._embedding_lock(tenant.workspace) as renew:
        assert renew()
        assert pending.embed_pending(tenant.workspace) == 0
        assert read == []
        assert renew()  # renewed by its holder
    assert pending.embed_pending(tenant.workspace) == 1


def test_a_query_is_read_from_its_beginning(
    tenant: Tenant, read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    whole = MiniLM.read

    def counted(self: MiniLM, texts: Sequence[str]) -> Any:
        seen.extend(texts)
        return whole(self, texts)

    provider = embedding._provider()
    monkeypatch.setattr(provider, "read", lambda texts: counted(provider._model, texts))
    embedding.read_query("x " * embedding.QUERY_CHARS)
    assert [len(text) for text in seen] == [embedding.QUERY_CHARS]
    assert read == [1]
