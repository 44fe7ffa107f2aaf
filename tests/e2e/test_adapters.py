"""The client's adapters with a running service: LangGraph's store, and tools for models."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from engram_client import Engram, errors
from engram_client.adapters.langgraph import EngramStore
from engram_client.tools import memory_tools
from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from tests.e2e.service import Service


@pytest.fixture
def engram(service: Service) -> Iterator[Engram]:
    """Return a client with an agent's key."""
    with Engram(service.up.url, service.tokens["agent"]) as client:
        yield client


@pytest.fixture
def store(engram: Engram, subject: str) -> EngramStore:
    """Return a store of this test's own."""
    return EngramStore(engram, root=subject)


def shown(result: Any) -> Any:
    """Return a result without times and scores, items in the order of their names."""
    if isinstance(result, list):
        return sorted((shown(one) for one in result), key=repr)
    if result is None or isinstance(result, tuple):
        return result
    return (result.namespace, result.key, result.value)


STEPS: list[list[Any]] = [
    [PutOp(("users", "ana"), "tea", {"text": "Ana drinks tea at four.", "cups": 2})],
    [PutOp(("users", "ana"), "same", {"text": "Ana drinks tea at four.", "cups": 3})],
    [PutOp(("users", "ben"), "tea", {"text": "Ben drinks no tea.", "cups": 0, "of": {"a": [1]}})],
    [PutOp(("users",), "ana", {"text": "A user."}), PutOp(("users",), "ana", {"text": "Last."})],
    [PutOp(("Users", "ä/ö %=x"), "=k/é", {"nested": {"list": [1, None, True]}})],
    [GetOp(("users", "ana"), "tea"), GetOp(("users", "ana"), "same"), GetOp(("users",), "ana")],
    [GetOp(("users", "ana"), "none"), GetOp(("none",), "tea"), GetOp(("users", "ana"), "te")],
    [GetOp(("Users", "ä/ö %=x"), "=k/é"), GetOp(("Users", "ä"), "=k/é")],
    [SearchOp(("users",)), SearchOp(()), SearchOp(("use",)), SearchOp(("users", "ana"))],
    [SearchOp(("users",), {"cups": 2}), SearchOp((), {"of": {"a": [1]}})],
    [SearchOp(("users", "ana"), {"cups": {"$gt": 2}}), SearchOp((), {"cups": {"$ne": 2}})],
    [PutOp(("users", "ana"), "tea", {"text": "Ana drinks coffee at nine.", "cups": 1})],
    [GetOp(("users", "ana"), "tea"), SearchOp(("users", "ana"))],
    [PutOp(("users", "ana"), "tea", None), GetOp(("users", "ana"), "tea")],
    [GetOp(("users", "ana"), "tea"), SearchOp(("users",))],
    [PutOp(("users", "ana"), "tea", None), PutOp(("no", "such"), "item", None)],
    [PutOp(("users", "ana"), "tea", {"text": "Ana drinks coffee at nine.", "cups": 9})],
    [GetOp(("users", "ana"), "tea")],
]
NAMES: list[list[Any]] = [
    [ListNamespacesOp(), ListNamespacesOp(max_depth=1), ListNamespacesOp(limit=1, offset=1)],
    [
        ListNamespacesOp((MatchCondition("prefix", ("users", "*")),)),
        ListNamespacesOp((MatchCondition("suffix", ("ana",)),)),
    ],
]


def test_the_store_answers_as_langgraph_s_own(store: EngramStore) -> None:
    own: BaseStore = InMemoryStore()
    for ops in STEPS:
        expected = [shown(one) for one in own.batch(ops)]
        assert [shown(one) for one in store.batch(ops)] == expected, ops
    # LangGraph's own also lists the namespaces in which it looked and found nothing.
    filled: BaseStore = InMemoryStore()
    for item in own.search(()):
        filled.put(item.namespace, item.key, item.value)
    for ops in NAMES:
        assert [shown(one) for one in store.batch(ops)] == [shown(one) for one in filled.batch(ops)]


async def test_the_store_is_used_by_its_methods(store: EngramStore) -> None:
    await store.aput(("team",), "tea", {"text": "The kettle is in the east kitchen."})
    await store.aput(("team",), "rent", {"text": "The rent is due on the third."})
    best, *_ = await store.asearch(("team",), query="Where is the kettle?", limit=1)
    assert (best.key, best.value["text"]) == ("tea", "The kettle is in the east kitchen.")
    assert best.score is not None
    item = store.get(("team",), "tea")
    assert item is not None
    store.put(("team",), "tea", {"text": "The kettle is in the west kitchen."})
    changed = await store.aget(("team",), "tea")
    assert changed is not None
    assert (changed.created_at, changed.updated_at > item.updated_at) == (item.created_at, True)
    store.delete(("team",), "tea")
    assert [one.key for one in store.search(("team",), query="kettle")] == ["rent"]
    assert store.list_namespaces() == [("team",)]


def test_pages_of_a_search_are_disjoint(store: EngramStore) -> None:
    for n, word in enumerate(("ink", "rope", "tea")):
        store.put(("shelf",), str(n), {"text": f"Shelf {n} holds {word}."})
    for query in (None, "What do the shelves hold?"):
        pages = [store.search(("shelf",), query=query, limit=1, offset=n) for n in range(4)]
        assert [len(page) for page in pages] == [1, 1, 1, 0]
        assert len({page[0].key for page in pages[:3]}) == 3


def test_what_the_store_cannot_do_is_refused(store: EngramStore) -> None:
    with pytest.raises(ValueError, match="index"):
        store.put(("a",), "k", {"text": "x"}, index=False)
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(("a",), "k", {"text": "x"}, ttl=5)
    with pytest.raises(errors.InvalidError):
        store.put(("a",), "k", {"text": "x" * 9_000})
    with pytest.raises(errors.InvalidError):
        store.put(("a",), "k", {"text": "password: hunter2"})
    store.put(("a",), "k", {"text": "A box."})
    with pytest.raises(ValueError, match=r"\$in"):
        store.search(("a",), filter={"text": {"$in": []}})
    assert store.search(("a",), filter={"text": "x"}) == []


def test_items_are_memories_like_others(engram: Engram, store: EngramStore, subject: str) -> None:
    store.put(("shop",), "door", {"text": f"The {subject} door is green."})
    [memory] = engram.memories.list(scope=f"{subject}/shop")
    assert memory["content"] == f"The {subject} door is green."
    engram.memories.commit("Not an item.", scope=f"{subject}/shop")
    assert [one.key for one in store.search(("shop",))] == ["door"]


def test_a_model_remembers_recalls_and_forgets_by_tools(engram: Engram, subject: str) -> None:
    tools = {tool.name: tool for tool in memory_tools(engram, scope=subject)}
    made = json.loads(
        tools["remember"](
            json.dumps(
                {
                    "content": f"The {subject} is opened by Ingrid.",
                    "answers": [{"question": f"Who opens the {subject}?", "answer": "Ingrid"}],
                }
            )
        )
    )
    assert made["outcome"] == "created"
    [found] = json.loads(tools["recall"]({"query": f"who opens the {subject}?"}))["memories"]
    assert found["id"] == made["id"]
    deadline = time.monotonic() + 60
    known: list[Any] = []
    while not known and time.monotonic() < deadline:
        known = json.loads(tools["questions"]({"q": subject}))["known"]
    assert [one["answer"] for one in known] == ["Ingrid"]
    revised = json.loads(
        tools["revise"]({"id": made["id"], "content": f"The {subject} is opened by Ingrid Berg."})
    )
    assert revised["content"].endswith("Ingrid Berg.")
    assert "error" in json.loads(tools["revise"]({"id": "no-id", "content": "x"}))
    [preview] = json.loads(tools["forget"]({"query": f"who opens the {subject}?"}))["would_forget"]
    assert json.loads(tools["forget"]({"ids": [preview["id"]], "confirm": True}))["forgotten"] == 1
    assert json.loads(tools["recall"]({"query": f"who opens the {subject}?"}))["memories"] == []
