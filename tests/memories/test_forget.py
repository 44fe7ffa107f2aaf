"""Forgetting by query: a preview, a floor, a cap; restoring says what else hides (F1)."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from engram.kernel import embedding
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.lifecycle import forget
from memories.services.recall.query import EMPTY_QUERY
from tests.conftest import Caller, Tenant


def commit(caller: Caller, content: str, **fields: Any) -> dict[str, Any]:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


def rows(tenant: Tenant) -> list[Any]:
    with in_workspace(tenant.workspace):
        return list(Memory.objects.order_by("pk").values())


def test_a_preview_is_a_no_op(tenant: Tenant) -> None:
    """Pitfall 3."""
    memory = commit(tenant.agent, "Rita sings in a choir.")
    before = rows(tenant)
    for named in ({"ids": [memory["id"]]}, {"query": "Rita sings in a choir"}):
        answer = tenant.agent.post("memories/forget", named).json()
        assert [row["id"] for row in answer["would_forget"]] == [memory["id"]]
    assert rows(tenant) == before


def test_forgetting_stamps_and_touches_neither_counters_nor_confidence(tenant: Tenant) -> None:
    """Pitfall 1."""
    memory = commit(tenant.agent, "Rita sings in a choir.", confidence=0.4)
    (before,) = rows(tenant)
    body = {"ids": [memory["id"]], "confirm": True}
    assert tenant.agent.post("memories/forget", body).json()["forgotten"] == 1
    assert tenant.agent.post("memories/forget", body).json() == {"forgotten": 0, "ids": []}
    (after,) = rows(tenant)
    assert after["forgotten_at"] is not None
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"forgotten_at", "updated_at"}


def test_a_weak_query_takes_nothing(tenant: Tenant) -> None:
    commit(tenant.agent, "Rita sings in a choir.")
    answer = tenant.agent.post("memories/forget", {"query": "taxes in Peru", "confirm": True})
    assert answer.json() == {"forgotten": 0, "ids": [], "reason": forget.NOTHING_NEAR}


def test_a_query_without_a_word_says_so_and_takes_nothing(tenant: Tenant) -> None:
    commit(tenant.agent, "!!!")
    body = {"query": "!!!", "min_relevance": 0.0}
    answer = tenant.agent.post("memories/forget", body)
    assert answer.json() == {"would_forget": [], "reason": EMPTY_QUERY}
    answer = tenant.agent.post("memories/forget", body | {"confirm": True})
    assert answer.json() == {"forgotten": 0, "ids": [], "reason": EMPTY_QUERY}


def test_the_least_relevance_is_the_workspaces(tenant: Tenant) -> None:
    """Pitfall 45."""
    commit(tenant.agent, "Rita sings in a choir.")
    query = {"query": "Who sings in a choir?"}
    assert len(tenant.agent.post("memories/forget", query).json()["would_forget"]) == 1
    tenant.admin.patch("workspace/settings", {"forget_min_relevance": 0.99})
    assert tenant.agent.post("memories/forget", query).json()["would_forget"] == []
    asked = query | {"min_relevance": 0.5}
    assert len(tenant.agent.post("memories/forget", asked).json()["would_forget"]) == 1


def test_a_query_forget_stays_within_its_place_and_kinds(tenant: Tenant) -> None:
    kept = commit(tenant.agent, "Rita sings in a choir.", scope="b", kind="episodic")
    gone = commit(tenant.agent, "Rita sings in a choir.", scope="a/c")
    query = {"query": "Rita sings in a choir.", "scope": "a", "kinds": ["semantic"]}
    answer = tenant.agent.post("memories/forget", query | {"confirm": True}).json()
    assert answer == {"forgotten": 1, "ids": [gone["id"]], "capped": False}
    assert tenant.agent.get(f"memories/{kept['id']}").json()["state"] == "active"


def test_a_query_that_means_more_than_the_cap_says_so(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forget, "MEANT_MAX", 2)
    for place in "abc":
        commit(tenant.agent, "Rita sings in a choir.", scope=place)
    query = {"query": "Rita sings in a choir.", "confirm": True}
    answers = [tenant.agent.post("memories/forget", query).json() for _ in range(3)]
    assert [(a["forgotten"], a.get("capped")) for a in answers] == [
        (2, True), (1, False), (0, None),
    ]  # fmt: skip


def test_a_query_that_cannot_be_embedded_says_so(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pitfall 2."""
    commit(tenant.agent, "Rita sings in a choir.")

    def away(*args: Any) -> Any:
        raise embedding.EmbeddingUnavailableError("away")

    monkeypatch.setattr(forget, "embed_query", away)
    answer = tenant.agent.post("memories/forget", {"query": "Rita", "confirm": True}).json()
    assert answer == {"forgotten": 0, "ids": [], "reason": forget.NOT_EMBEDDABLE}


def test_restoring_what_was_superseded_meanwhile_says_so(tenant: Tenant) -> None:
    memory = commit(tenant.agent, "The office is in Ghent.")
    new = commit(tenant.agent, "The office is in Bruges.", supersedes=memory["id"])
    tenant.agent.post("memories/forget", {"ids": [memory["id"]], "confirm": True})
    answer = tenant.agent.post("memories/restore", {"ids": [memory["id"]]}).json()
    assert (answer["restored"], answer["still_hidden"]) == (
        1, [{"id": memory["id"], "state": "superseded"}],
    )  # fmt: skip
    shown = tenant.agent.get(f"memories/{memory['id']}").json()
    assert (shown["state"], shown["superseded_by"]) == ("superseded", new["id"])


def test_restoring_what_was_said_again_meanwhile_is_a_conflict(tenant: Tenant) -> None:
    memory = commit(tenant.agent, "The office is in Ghent.")
    other = commit(tenant.agent, "The office is in Bruges.", scope="x")
    moved = tenant.agent.patch(f"memories/{other['id']}", {"scope": ""})
    assert moved.status_code == 200
    tenant.agent.post("memories/forget", {"ids": [memory["id"]], "confirm": True})
    with in_workspace(tenant.workspace):  # as two racing callers, or a release before, may leave it
        twin = Memory.objects.get(pk=other["id"])
        twin.content, twin.content_hash = (
            memory["content"],
            Memory.objects.get(pk=memory["id"]).content_hash,
        )
        twin.save()
    answer = tenant.agent.post("memories/restore", {"ids": [memory["id"]]})
    assert answer.status_code == 409
    assert answer.json()["errors"] == [{"field": "id", "message": other["id"]}]
    assert tenant.agent.get(f"memories/{memory['id']}").json()["state"] == "forgotten"


def test_forgotten_words_stay_forgotten_in_every_case_and_place(tenant: Tenant) -> None:
    """Pitfall 5."""
    memory = commit(tenant.agent, "Rita sings in a choir.", scope="a")
    tenant.agent.post("memories/forget", {"ids": [memory["id"]], "confirm": True})
    said = ["RITA  sings in\ta choir. ", "rita sings in a choir."]
    batch = [{"content": text, "scope": place} for text in said for place in ("", "b")]
    rows_ = tenant.agent.post("memories/batch", {"memories": batch}).json()["results"]
    assert {row["outcome"] for row in rows_} == {"suppressed"}


def test_an_expiry_in_the_past_is_refused(tenant: Tenant) -> None:
    memory = commit(tenant.agent, "The lift is out of order.")
    past = (timezone.now()).isoformat()
    answer = tenant.agent.patch(f"memories/{memory['id']}", {"expires_at": past})
    assert answer.status_code == 422
    assert [e["field"] for e in answer.json()["errors"]] == ["expires_at"]


def test_a_superseded_memory_is_not_changed_any_more(tenant: Tenant) -> None:
    memory = commit(tenant.agent, "The office is in Ghent.")
    new = commit(tenant.agent, "The office is in Bruges.", supersedes=memory["id"])
    answer = tenant.agent.patch(f"memories/{memory['id']}", {"tags": ["late"]})
    assert answer.status_code == 409
    assert answer.json()["errors"] == [{"field": "id", "message": new["id"]}]
