"""`as_of`: what was active then, in the wording of then."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Merge
from memories.services.lifecycle.revise import revise
from memories.services.lifecycle.states import hide
from memories.services.locks import lock
from tests.conftest import Tenant

EARLIEST = datetime.fromisoformat("2020-01-01T00:00:00+00:00")


def day(n: int) -> datetime:
    return EARLIEST + timedelta(days=n)


def commit(tenant: Tenant, content: str, n: int, **fields: Any) -> str:
    body = {"content": content, "observed_at": day(n).isoformat(), **fields}
    memory_id: str = tenant.agent.post("memories", body).json()["memory"]["id"]
    return memory_id


def found(tenant: Tenant, query: str, at: datetime, **asked: Any) -> list[str]:
    body = {"query": query, "as_of": at.isoformat(), "min_score": None, **asked}
    answer = tenant.reader.post("memories/recall", body)
    assert answer.status_code == 200, answer.json()
    return [r["memory"]["content"] for r in answer.json()["results"]]


def test_only_what_was_observed_by_then_is_known(tenant: Tenant, neighbour: Tenant) -> None:
    commit(tenant, "The lighthouse keeper is Ada.", 10)
    commit(tenant, "The harbour master is Bob.", 20)
    commit(neighbour, "The lighthouse keeper is a stranger.", 1)

    assert found(tenant, "who is the lighthouse keeper", day(15)) == [
        "The lighthouse keeper is Ada."
    ]
    assert len(found(tenant, "who is the lighthouse keeper", day(20))) == 2
    empty = tenant.reader.post("memories/recall", {"query": "x", "as_of": day(1).isoformat()})
    assert empty.json()["reason"].startswith("no memories: nothing was known at that moment")


def test_a_replaced_memory_stands_until_its_successor_is_observed(tenant: Tenant) -> None:
    old = commit(tenant, "The office dog is called Biscuit.", 10)
    commit(tenant, "The office dog is called Waffle.", 30, supersedes=old)

    assert found(tenant, "the office dog", day(29)) == ["The office dog is called Biscuit."]
    assert found(tenant, "the office dog", day(30)) == ["The office dog is called Waffle."]
    assert found(tenant, "the office dog", timezone.now()) == ["The office dog is called Waffle."]


def test_what_an_older_memory_replaced_stands_until_somebody_said_so(tenant: Tenant) -> None:
    older = commit(tenant, "The office dog is called Biscuit.", 10)
    newer = commit(tenant, "The office dog is called Waffle.", 30)
    with in_workspace(tenant.workspace):
        survivor = Memory.objects.get(pk=older)
        hide(lock([newer]), "superseded_at", actor=SYSTEM, now=timezone.now(), successor=survivor)

    assert len(found(tenant, "the office dog", day(40))) == 2
    assert found(tenant, "the office dog", timezone.now()) == ["The office dog is called Biscuit."]


@pytest.mark.parametrize("stamp", ["retired_at", "culled_at"])
def test_what_was_hidden_later_was_still_known_then(tenant: Tenant, stamp: Any) -> None:
    memory_id = commit(tenant, "The crane lifts nine tonnes.", 10)
    with in_workspace(tenant.workspace):
        hide(lock([memory_id]), stamp, actor=SYSTEM, now=day(50))

    assert found(tenant, "crane", day(49)) == ["The crane lifts nine tonnes."]
    assert found(tenant, "crane", day(50)) == []


def test_what_expired_since_was_known_then(tenant: Tenant) -> None:
    commit(tenant, "The crane is rented.", 10, expires_at=day(40).isoformat())

    assert found(tenant, "crane", day(39)) == ["The crane is rented."]
    assert found(tenant, "crane", day(40)) == []
    assert found(tenant, "crane", timezone.now()) == []


def test_what_is_forgotten_by_now_never_returns(tenant: Tenant) -> None:
    memory_id = commit(tenant, "The safe opens with the code of the old gate.", 10)
    tenant.agent.patch(f"memories/{memory_id}", {"content": "The safe opens with a key."})
    tenant.agent.post("memories/forget", {"ids": [memory_id], "confirm": True})

    for moment in (day(20), timezone.now()):
        assert found(tenant, "how does the safe open", moment) == []


def test_a_reworded_memory_is_found_by_its_old_wording_and_shown_in_it(tenant: Tenant) -> None:
    memory_id = commit(tenant, "The heron nests on the boathouse roof.", 10, scope="birds")
    other = commit(tenant, "Breakfast is served until ten.", 10)
    with in_workspace(tenant.workspace):
        Memory.objects.update(created_at=day(10))
    for n, content in ((20, "Payroll runs on the last Friday."), (30, "Payroll runs on Mondays.")):
        revise(tenant.workspace, Memory(pk=memory_id).pk, {"content": content, "scope": "pay"},
               actor=SYSTEM, now=day(n))  # fmt: skip

    body = {"query": "where do the birds breed", "as_of": day(15).isoformat(), "explain": True}
    body["min_score"] = None
    results = tenant.reader.post("memories/recall", body).json()["results"]
    assert [r["memory"]["id"] for r in results] == [memory_id, other]
    first = results[0]
    assert first["memory"]["content"] == "The heron nests on the boathouse roof."
    assert (first["memory"]["scope"], first["memory"]["revision"]) == ("birds", 1)
    assert first["cosine"] > 0.2
    assert first["explain"]["late"] > 0.1
    assert found(tenant, "payroll", day(25))[0] == "Payroll runs on the last Friday."
    assert found(tenant, "payroll", day(35))[0] == "Payroll runs on Mondays."
    assert found(tenant, "payroll", day(15), min_score=0.3) == []
    assert found(tenant, "heron", day(15), scope="birds") == [
        "The heron nests on the boathouse roof."
    ]
    assert found(tenant, "heron", day(15), scope="pay") == []
    with in_workspace(tenant.workspace):
        assert Memory.objects.get(pk=memory_id).content == "Payroll runs on Mondays."


def test_the_future_cannot_be_asked(tenant: Tenant) -> None:
    later = (timezone.now() + timedelta(hours=1)).isoformat()
    answer = tenant.reader.post("memories/recall", {"query": "x", "as_of": later})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "as_of"


def test_the_past_costs_the_same_for_one_and_for_many(tenant: Tenant) -> None:
    counted = []
    for count in (2, 30):
        ids = [commit(tenant, f"Shelf {n} holds jar {n * 7}.", 10) for n in range(count)]
        for n, memory_id in enumerate(ids):
            tenant.agent.patch(f"memories/{memory_id}", {"content": f"Shelf {n} has box {n * 7}."})
        found(tenant, "jar on a shelf", day(20))
        with CaptureQueriesContext(connection) as queries:
            assert len(found(tenant, "jar on a shelf", day(20), k=100)) == count
        counted.append(len(queries))
        with in_workspace(tenant.workspace):
            Memory.objects.all().delete()
    assert counted[0] == counted[1]


def test_what_was_merged_then_is_told_once_after_a_split(tenant: Tenant) -> None:
    plain, finer = "The lamp room is lit.", "The lamp room is lit at 21:00."
    memory = commit(tenant, plain, 10)
    answer = tenant.agent.post("memories", {"content": finer}).json()
    assert (answer["outcome"], answer["memory"]["id"]) == ("merged", memory)
    merged_at = timezone.now()
    with in_workspace(tenant.workspace):
        statement = Merge.objects.get().observation_id
    body = {"observation_id": str(statement)}
    assert tenant.reviewer.post(f"memories/{memory}/split", body).status_code == 200
    assert found(tenant, "lamp room", merged_at) == [finer]
    assert sorted(found(tenant, "lamp room", timezone.now())) == sorted([plain, finer])
    forget = {"ids": [memory], "confirm": True}
    assert tenant.admin.post("memories/forget", forget).json()["forgotten"] == 1
    assert found(tenant, "lamp room", merged_at) == [finer]


def test_what_a_reviewer_merged_then_is_told_once_after_a_split(tenant: Tenant) -> None:
    plain, finer = "The pier is painted.", "The pier is painted by Helvetia."
    older = commit(tenant, plain, 10, provenance="user_stated")
    newer = commit(tenant, finer, 11)
    (row,) = tenant.reader.get("merge-suggestions").json()["results"]
    accepted = tenant.reviewer.post(f"merge-suggestions/{row['id']}/accept", {"keep": newer})
    assert accepted.status_code == 200, accepted.json()
    merged_at = timezone.now()
    assert len(found(tenant, "the pier", merged_at)) == 1
    with in_workspace(tenant.workspace):
        merge = Merge.objects.get()
        body = {"observation_id": str(merge.observation_id)}
        survivor = merge.memory_id
    assert tenant.reviewer.post(f"memories/{survivor}/split", body).status_code == 200
    assert len(found(tenant, "the pier", merged_at)) == 1
    assert {older, newer} == {r["id"] for r in tenant.reader.get("memories").json()["results"]}
