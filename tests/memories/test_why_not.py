"""Why was a memory not returned? State, filters, rank and factors, threshold."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from memories.models import Memory, RecallRecord
from tests.conftest import Tenant

DOG = "The office dog is called Biscuit."


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    memory_id: str = answer.json()["memory"]["id"]
    return memory_id


def ask(tenant: Tenant, memory_id: str, **asked: Any) -> dict[str, Any]:
    answer = tenant.reader.get(f"memories/{memory_id}/why-not", {"query": "office dog", **asked})
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def codes(body: dict[str, Any]) -> list[str]:
    return [reason["code"] for reason in body["reasons"]]


def test_what_is_returned_says_so_with_the_factors_of_the_recall(tenant: Tenant) -> None:
    memory_id = commit(tenant, DOG)
    body = ask(tenant, memory_id)
    asked = {"query": "office dog", "explain": True, "record": False}
    [result] = tenant.reader.post("memories/recall", asked).json()["results"]
    assert (body["returned"], codes(body), body["rank"]) == (True, ["returned"], 1)
    assert body["cosine"] == result["cosine"]
    # A moment lies between the two calls: everything but the freshness is the same.
    assert body["score"] == pytest.approx(result["score"], abs=1e-6)
    assert body["explain"] | {"freshness": 1} == result["explain"] | {"freshness": 1}
    with in_workspace(tenant.workspace):
        assert RecallRecord.objects.count() == 0


@pytest.mark.parametrize(
    ("asked", "code", "told"),
    [
        ({"scope": "infra"}, "scope", "Its scope is “team/pets”."),
        ({"project": "apollo"}, "project", "Its project is none."),
        ({"kinds": "decision,procedural"}, "kinds", "It is of the kind semantic."),
        ({"min_score": 0.99}, "min_score", "is below 0.990"),
        ({"query": "?!"}, "nothing_asked", "punctuation"),
    ],
)
def test_each_filter_that_excluded_it_is_named(
    tenant: Tenant, asked: dict[str, Any], code: str, told: str
) -> None:
    memory_id = commit(tenant, DOG, scope="team/pets")
    body = ask(tenant, memory_id, **asked)
    assert (body["returned"], codes(body)) == (False, [code])
    assert told in body["reasons"][0]["message"]
    assert body["explain"] is not None


def test_all_filters_are_named_at_once(tenant: Tenant) -> None:
    memory_id = commit(tenant, DOG)
    body = ask(tenant, memory_id, scope="infra", project="apollo", kinds="decision")
    assert codes(body) == ["scope", "project", "kinds"]
    assert body["rank"] is None


def test_better_ones_are_told_with_the_score_that_was_missing(tenant: Tenant) -> None:
    ids = [commit(tenant, f"The office dog likes the {place}.") for place in ("roof", "cellar")]
    bodies = [ask(tenant, memory_id, k=1) for memory_id in ids]
    last = next(body for body in bodies if not body["returned"])
    first = next(body for body in bodies if body["returned"])
    assert (codes(last), last["rank"]) == (["rank"], 2)
    assert last["threshold"] == pytest.approx(first["score"], abs=1e-6)
    assert last["threshold"] > last["score"]


def test_the_place_counts_what_is_returned(tenant: Tenant) -> None:
    tenant.admin.patch("workspace/settings", {"weight_assistant_derived": 0.05})
    trusted = {"provenance": "user_stated"}
    dog = commit(tenant, DOG, provenance="assistant_derived")
    others = [
        commit(tenant, f"The office {thing} was painted last spring.", **trusted)
        for thing in ("door", "lamp", "roof")
    ]
    asked = {"query": "What is the office dog called?", "k": 1}
    answer = tenant.reader.post("memories/recall", asked).json()["results"]
    assert [result["memory"]["id"] for result in answer] == [dog]
    body = ask(tenant, dog, **asked)
    assert (body["returned"], body["threshold"]) == (True, None)
    assert body["reasons"][0]["message"] == "It is returned, in place 1."
    assert body["rank"] > 1  # others score more, and match too little to be returned
    assert [codes(ask(tenant, other, **asked)) for other in others] == [["relevance"]] * 3


def test_a_pin_that_matches_nothing_is_returned(tenant: Tenant) -> None:
    pin = commit(tenant, "Ask Ingrid first.", pinned=True)
    with in_workspace(tenant.workspace):
        Memory.objects.get(pk=pin).vectors.all().delete()
    asked = {"query": "office dog"}
    [result] = tenant.reader.post("memories/recall", asked).json()["results"]
    assert (result["memory"]["id"], result["score"]) == (pin, 0)
    assert codes(ask(tenant, pin)) == ["returned"]
    assert codes(ask(tenant, pin, min_score=0.5)) == ["min_score"]


def test_its_state_is_told(tenant: Tenant) -> None:
    old = commit(tenant, DOG)
    commit(tenant, "The office dog is called Waffle.", supersedes=old)
    body = ask(tenant, old)
    assert (body["state"], codes(body), body["rank"]) == ("superseded", ["state"], None)
    assert body["reasons"][0]["message"].startswith("It was replaced on 20")
    assert body["score"] > 0


def test_what_is_not_embedded_yet_is_told(tenant: Tenant) -> None:
    memory_id = commit(tenant, DOG)
    with in_workspace(tenant.workspace):
        memory = Memory.objects.get(pk=memory_id)
        memory.vectors.all().delete()
        memory.tokens.all().delete()
        memory.is_embedding_due = True
        memory.save()
    body = ask(tenant, memory_id, query="a pet's name")
    assert (body["returned"], codes(body)) == (False, ["unrelated", "not_embedded"])


def test_a_forgotten_memory_shows_to_nobody_who_may_not_see_it(
    tenant: Tenant, neighbour: Tenant
) -> None:
    memory_id = commit(tenant, DOG)
    tenant.agent.post("memories/forget", {"ids": [memory_id], "confirm": True})
    path, asked = f"memories/{memory_id}/why-not", {"query": "office dog"}
    assert tenant.reader.get(path, asked).status_code == 404
    assert neighbour.admin.get(path, asked).status_code == 404
    seen = tenant.agent.get(path, asked).json()
    assert (seen["state"], codes(seen)) == ("forgotten", ["state"])


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"query": ""},
        {"query": "x", "k": 0},
        {"query": "x", "k": "many"},
        {"query": "x", "min_score": "nan"},
        {"query": "x", "min_score": "1.5"},
        {"query": "x", "kinds": "folklore"},
        {"query": "x", "kind": "semantic"},
    ],
)
def test_what_makes_no_sense_is_refused(tenant: Tenant, asked: dict[str, Any]) -> None:
    memory_id = commit(tenant, DOG)
    assert tenant.reader.get(f"memories/{memory_id}/why-not", asked).status_code == 422


def test_the_question_costs_the_same_for_one_and_for_many(tenant: Tenant) -> None:
    memory_id = commit(tenant, DOG)
    counted = []
    for _ in range(2):
        ask(tenant, memory_id)
        with CaptureQueriesContext(connection) as queries:
            ask(tenant, memory_id)
        counted.append(len(queries))
        tenant.agent.post(
            "memories/batch",
            {"memories": [{"content": f"Office dog toy number {n}."} for n in range(30)]},
        )
    assert counted[0] == counted[1]
