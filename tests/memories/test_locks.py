"""Writers that meet on the same rows: none is left standing, none is told that we broke."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connections

from engram.kernel import embedding, idempotency
from engram.kernel.tenancy import has_workspace, in_workspace
from memories.models import Memory, Merge
from memories.services.index.search_index import WordIndex
from tests.conftest import Tenant, build_tenant

PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."
CRATES = ("apples", "bolts", "cedar", "dates", "eggs", "figs")


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that several connections see."""
    return build_tenant("locks")


def closing(call: Callable[..., Any], *args: Any) -> Any:
    """Call from a thread that leaves no connection behind."""
    try:
        return call(*args)
    finally:
        connections.close_all()


def committed(tenant: Tenant, content: str) -> str:
    """Commit a memory; return its id."""
    memory_id: str = tenant.agent.post("memories", {"content": content}).json()["memory"]["id"]
    return memory_id


def test_batches_that_supersede_in_opposite_order_wait_for_each_other(
    shared_tenant: Tenant,
) -> None:
    start = Barrier(2)

    def supersede(name: str, ids: list[str]) -> str:
        drafts = [
            {"content": f"{name} number {n} is new and green.", "supersedes": memory_id}
            for n, memory_id in enumerate(ids)
        ]
        start.wait()
        answer = shared_tenant.agent.post("memories/batch", {"memories": drafts})
        return "done" if answer.status_code == 201 else str(answer.json()["detail"])

    for turn in range(3):
        ids = [committed(shared_tenant, f"Crate {turn} {n} holds {n}.") for n in CRATES]
        with ThreadPoolExecutor(2) as pool:
            there = pool.submit(closing, supersede, f"Lorry {turn}", ids)
            back = pool.submit(closing, supersede, f"Van {turn}", ids[::-1])
            # The second finds its memories superseded: an answer, after the wait.
            second, first = sorted([there.result(), back.result()], key=lambda said: said == "done")
            assert first == "done"
            assert "memory was superseded already" in second


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "q"}])
def test_a_source_erased_beside_a_commit_waits_for_it(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    source = committed(shared_tenant, "Pears ripen in August.")
    erased: list[int] = []
    eraser = Thread(
        target=lambda: closing(
            lambda: erased.append(shared_tenant.admin.delete(f"memories/{source}").status_code)
        )
    )
    write = WordIndex.write

    def slow(words: WordIndex) -> None:
        if eraser.ident is None:  # ours: nothing was counted yet
            eraser.start()
            eraser.join(2)
        write(words)

    monkeypatch.setattr(WordIndex, "write", slow)
    draft = {"content": "Fruit is ready late in summer.", "derived_from": [source]}
    answer = shared_tenant.agent.post("memories", draft, **headers)
    eraser.join(20)
    assert (answer.status_code, erased) == (201, [204])
    with in_workspace(shared_tenant.workspace):
        assert [m.content for m in Memory.objects.all()] == ["Fruit is ready late in summer."]


def test_a_keyed_write_whose_transaction_cannot_end_is_a_conflict(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_id = committed(shared_tenant, "Pears ripen in August.")
    keep = idempotency._keep

    def unsound(ask: Any, answer: Any) -> None:
        """Leave a row that refers to nothing: the database says so when the transaction ends."""
        keep(ask, answer)
        Memory.objects.filter(pk=memory_id).update(superseded_by_id=shared_tenant.workspace.pk)

    monkeypatch.setattr(idempotency, "_keep", unsound)
    answer = shared_tenant.agent.post(
        "memories", {"content": "Figs too."}, **{"Idempotency-Key": "k"}
    )
    assert answer.status_code == 409
    assert answer.json()["title"] == "Written meanwhile"
    with in_workspace(shared_tenant.workspace):
        assert Memory.objects.count() == 1


def suggested_pair(tenant: Tenant) -> tuple[str, str]:
    """Return a suggestion and the older one of its two memories."""
    older = tenant.agent.post("memories", {"content": PLAIN, "provenance": "user_stated"}).json()
    assert tenant.agent.post("memories", {"content": FINER}).json()["outcome"] == "suggested"
    (row,) = tenant.reader.get("merge-suggestions").json()["results"]
    return row["id"], older["memory"]["id"]


def requested_review(tenant: Tenant) -> str:
    """Return a review of what an agent would put in the place of a person's word."""
    body = {"content": "The office is in Ghent.", "provenance": "user_stated"}
    known = tenant.reviewer.post("memories", body).json()["memory"]["id"]
    asked = {"content": "The office is in Bruges.", "supersedes": known}
    review: str = tenant.agent.post("memories", asked).json()["review"]
    return review


@pytest.mark.parametrize("work", ["accept", "split", "audit", "review"])
def test_nothing_is_embedded_within_the_transaction_of_a_keyed_write(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    body: dict[str, Any] = {}
    if work == "accept":
        path = f"merge-suggestions/{suggested_pair(tenant)[0]}/accept"
    elif work == "review":
        path = f"reviews/{requested_review(tenant)}/accept"
    else:
        for content in (PLAIN, FINER):
            outcome = tenant.agent.post("memories", {"content": content}).json()["outcome"]
        assert outcome == "merged"
        with in_workspace(tenant.workspace):
            merge = Merge.objects.get()
        if work == "split":
            path = f"memories/{merge.memory_id}/split"
            body = {"observation_id": str(merge.observation_id)}
        else:
            path, body = f"gate/audit/{merge.id}", {"correct": False, "split": True}
    within: list[bool] = []
    provider = embedding._provider

    def watched(model: str | None = None) -> Any:
        within.append(has_workspace())
        return provider(model)

    monkeypatch.setattr(embedding, "_provider", watched)
    answer = tenant.reviewer.post(path, body, **{"Idempotency-Key": "once"})
    assert (answer.status_code, set(within)) == (200, {False})
