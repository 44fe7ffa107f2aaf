"""Gone from every path (F2, census pitfall 4): one canary, every read, every role."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conflicts.services.detection.detect import detect_due
from conflicts.services.detection.story import load_facts, story_ids
from engram.console import feed
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.recall.log import count_recalls
from tests.conftest import Caller, Tenant

CANARY = "zyzzyvaquux"
STATEMENT = f"The vault word of the north tower is {CANARY} and it changes every week."
RIVAL = "The vault word of the north tower is swordfish and it changes every week."
# What agents may read of a forgotten memory: they may bring it back.
FOR_RESTORING = ("memories/{id}", "memories/{id}/history", "memories?state=")


def commit(caller: Caller, content: str, **fields: Any) -> dict[str, Any]:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


def furnish(tenant: Tenant) -> dict[str, Any]:
    """Let the canary take part wherever memories do, then forget it."""
    in_session = {"scope": "tower", "session_key": "night"}
    commit(tenant.agent, "Guard duty starts at dusk.", **in_session)
    asked = {"question": f"What does {CANARY} open?", "answer": "the vault", "was": CANARY}
    memory = commit(tenant.agent, STATEMENT, tags=["vault"], answers=[asked], **in_session)
    tenant.agent.patch(f"memories/{memory['id']}", {"importance": 0.9})
    rival = commit(tenant.agent, RIVAL, **in_session)
    third = commit(tenant.agent, "The tower has two doors.", scope="tower")
    ids = [memory["id"], rival["id"], third["id"]]
    card = tenant.agent.post("conflicts", {"memory_ids": ids, "note": ""}).json()
    also = {"question": f"Who knows {CANARY}?", "answer": "the guard"}
    keyed = {"Idempotency-Key": "once"}
    tenant.agent.post(
        "memories", {"content": STATEMENT, "scope": "tower", "answers": [also]}, **keyed
    )
    tenant.reader.post("memories/recall", {"query": STATEMENT})
    detect_due(tenant.workspace, clock=timezone.now)
    count_recalls(tenant.workspace)
    return {"id": memory["id"], "card": card["id"], "rival": rival["id"]}


def forget(tenant: Tenant, memory: dict[str, Any]) -> None:
    body = {"ids": [memory["id"]], "confirm": True}
    assert tenant.agent.post("memories/forget", body).json()["forgotten"] == 1


def reads(caller: Caller, known: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the path and the body of every answer that a caller of the API can get."""
    paths = [
        "memories", "memories?state=all", "memories?state=forgotten", f"memories?q={CANARY}",
        "memories?tag=vault", "memories?scope=tower", "memories?session_key=night",
        "memories?trust=pending", f"memories/{known['id']}", f"memories/{known['id']}/history",
        f"memories/{known['id']}/why-not?query=vault", f"memories/{known['rival']}",
        f"memories/{known['rival']}/history", f"memories/{known['rival']}/why-not?query=vault",
        "conflicts", "conflicts?status=resolved", f"conflicts/{known['card']}", "detections",
        "events", f"events?object={known['id']}", "reviews?status=all",
        "merge-suggestions", "merge-suggestions?status=lapsed", "gate/audit", "gate/metrics",
        "janitor/preview", "janitor/runs",
    ]  # fmt: skip
    asked = caller.get("merge-suggestions?status=all").json()["results"]
    for path in [*paths, *(f"merge-suggestions/{row['id']}" for row in asked)]:
        yield path, caller.get(path).content.decode()
    for asked in (
        {"query": STATEMENT, "k": 100, "explain": True},
        {"query": CANARY, "scope": "tower"},
        {"query": "guard duty at dusk", "k": 100},
        {"query": STATEMENT, "rerank": True},
        {"query": STATEMENT, "as_of": timezone.now().isoformat()},
    ):
        yield f"recall {asked}", caller.post("memories/recall", asked).content.decode()
    yield "forget by query", caller.post("memories/forget", {"query": STATEMENT}).content.decode()


def is_for_restoring(path: str, known: dict[str, Any]) -> bool:
    return any(path.startswith(shape.format(id=known["id"])) for shape in FOR_RESTORING)


@pytest.mark.parametrize("role", ["reader", "agent", "reviewer", "admin"])
def test_no_answer_of_the_api_shows_it(tenant: Tenant, role: str) -> None:
    known = furnish(tenant)
    before = dict(reads(tenant.caller(role), known))
    assert sum(CANARY in body for body in before.values()) >= 15
    forget(tenant, known)
    for path, body in reads(tenant.caller(role), known):
        if role == "reader" or not is_for_restoring(path, known):
            assert CANARY not in body, path


def test_what_is_committed_afterwards_does_not_meet_it(tenant: Tenant) -> None:
    known = furnish(tenant)
    forget(tenant, known)
    near = "The vault word of the north tower is barracuda and it changes every week."
    answer = tenant.agent.post("memories", {"content": near, "scope": "tower"})
    assert CANARY not in answer.content.decode()
    assert answer.json()["gate"]["nearest_id"] != known["id"]
    again = tenant.agent.post(
        "memories", {"content": STATEMENT, "scope": "tower"}, **{"Idempotency-Key": "once"}
    )
    assert CANARY not in again.content.decode()


def test_the_detective_and_the_live_feed_do_not_tell_it(tenant: Tenant) -> None:
    known = furnish(tenant)
    forget(tenant, known)
    now = timezone.now()
    with in_workspace(tenant.workspace):
        ids = story_ids([], tenant.workspace.embedding_model, now)
        told = load_facts(ids, tenant.workspace.embedding_model)
        messages, _ = feed.since(0)
        assert CANARY not in str(told.facts)
        assert CANARY not in str(feed.latest(100)) + str(messages)
        assert CANARY not in str(list(Event.objects.values()))


@pytest.mark.parametrize("role", ["reader", "agent", "reviewer", "admin"])
def test_no_page_shows_it(tenant: Tenant, member: Any, role: str) -> None:
    known = furnish(tenant)
    forget(tenant, known)
    person: Client = member(role)
    detail = f"/console/memories/{known['id']}/"
    pages = [
        "/console/", "/console/triage/", "/console/conflicts/", "/console/gate/",
        f"/console/conflicts/{known['card']}/", "/admin/", "/admin/memories/memory/",
        f"/admin/memories/memory/?q={CANARY}", "/admin/memories/review/?status=all",
        "/admin/conflicts/conflict/", f"/admin/conflicts/conflict/{known['card']}/change/",
        "/admin/kernel/event/", f"/console/memories/{known['rival']}/",
    ]  # fmt: skip
    if role == "reader":
        pages += ["/admin/memories/memory/?state=all", "/admin/memories/memory/?state=forgotten"]
        pages += [detail]
    for path in pages:
        answer = person.get(path, follow=True)
        assert answer.status_code < 500, path
        text = answer.content.decode()
        if f"q={CANARY}" in path:  # a search shows the word that was typed
            assert "vault word" not in text
        else:
            assert CANARY not in text, path


def test_counters_and_confidence_stay_byte_identical(tenant: Tenant) -> None:
    """Pitfall 1."""
    known = furnish(tenant)
    names = [
        "recall_count", "injected_count", "hit_count", "used_count", "last_recalled_at",
        "confidence", "weight_factor", "confidence_factor", "demotion_count", "importance",
    ]  # fmt: skip
    with in_workspace(tenant.workspace):
        before = Memory.objects.filter(pk=known["id"]).values(*names).get()
        assert before["recall_count"] == 1
    forget(tenant, known)
    for _ in reads(tenant.agent, known):
        pass
    count_recalls(tenant.workspace)
    with in_workspace(tenant.workspace):
        assert Memory.objects.filter(pk=known["id"]).values(*names).get() == before
