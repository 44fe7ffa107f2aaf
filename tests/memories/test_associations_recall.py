"""Recall along links: what it adds, what it never walks through, and that off is off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core import associations as core
from memories.models import Derivation, EntityCount, Memory, MemoryEntity, NoteLink
from memories.services.associations import list as associations
from memories.services.commit.commit import commit_all
from memories.services.commit.draft import Draft
from memories.services.index.entities import read_due
from memories.services.index.note_links import write_memory_links
from memories.services.recall import links
from memories.services.recall import recall as recall_service
from memories.services.recall.recall import Query, recall
from tests.conftest import NOW, Tenant, build_tenant
from tests.memories.test_note_links import put

DEPLOYS = "Falcon is deployed by Harbour on Fridays."
SITS = "Harbour has its desks beside the stairs, fourth floor."
QUESTION = "Where does the group that deploys Falcon sit?"
WORDS = [f"{a} {b}" for a in ("red", "blue", "tall", "old", "odd") for b in
         ("crane", "ladder", "lamp", "stove", "kettle", "piano")]  # fmt: skip
OTHERS = ("The canteen closes at three.", "Parking costs four euros a day.", "Lifts are slow.")


def fill(tenant: Tenant, *contents: str, **fields: Any) -> list[str]:
    drafts = [Draft(content=content, **fields) for content in contents]
    results = commit_all(tenant.workspace, drafts, actor=SYSTEM, now=NOW, is_gated=False)
    return [str(one.memory.id) for one in results if one.memory]


def ask(tenant: Tenant, question: str = QUESTION, **fields: Any) -> dict[str, Any]:
    body = {"query": question, "min_score": None, "record": False, **fields}
    answer = tenant.reader.post("memories/recall", body)
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found | {"took_ms": 0}


def found(tenant: Tenant, *, uses_graph: bool | None) -> list[dict[str, Any]]:
    """Everything that recall tells at one moment, which ages with it."""
    query = Query(QUESTION, min_score=None, is_recorded=False, uses_graph=uses_graph)
    answer = recall(tenant.workspace, query, now=NOW)
    return [
        {"id": str(one.memory.id), "score": one.score, "cosine": one.cosine} | one.explain
        for one in answer.results
    ]


def led_to(answer: dict[str, Any]) -> dict[str, list[str]]:
    return {one["memory"]["id"]: one["path"] for one in answer["associations"]}


def test_a_shared_entity_leads_from_what_was_found_to_what_it_is_about(tenant: Tenant) -> None:
    deploys, sits, *_ = fill(tenant, DEPLOYS, SITS, *OTHERS)
    answer = ask(tenant, graph=True)
    assert [r["memory"]["id"] for r in answer["results"][:2]] == [deploys, sits]
    association = next(one for one in answer["associations"] if one["memory"]["id"] == sits)
    assert association["path"] == [deploys, sits]
    assert association["steps"] == [
        {"kind": "query", "id": None, "name": "falcon"},
        {"kind": "memory", "id": deploys, "name": None},
        {"kind": "entity", "id": None, "name": "harbour"},
        {"kind": "memory", "id": sits, "name": None},
    ]
    assert 0 < association["activation"] <= 1


def test_what_links_lead_to_is_in_the_scored_list(tenant: Tenant) -> None:
    fill(tenant, DEPLOYS, SITS, *OTHERS)
    answer = ask(tenant, graph=True)
    listed = [result["memory"]["id"] for result in answer["results"]]
    assert set(led_to(answer)) <= set(listed)
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)


def test_a_score_can_be_computed_again_from_explain(tenant: Tenant) -> None:
    fill(tenant, DEPLOYS, SITS, *OTHERS)
    plain = {told["id"]: told["score"] for told in found(tenant, uses_graph=False)}
    raised = 0
    for told in found(tenant, uses_graph=True):
        fits = max(0.1, told["direct"] / told["best_direct"])
        fused = told["best_direct"] * (fits * told["graph_activation"]) ** 0.2
        assert told["fused"] == pytest.approx(fused)
        trust = told["provenance_weight"] * told["weight_factor"] * told["confidence_term"]
        assert told["score"] == pytest.approx(fused * trust * told["freshness"])
        raised += told["score"] > plain[told["id"]]
    assert raised


def test_links_leave_out_nothing_that_is_relevant_without_them(tenant: Tenant) -> None:
    """What no link leads to may score less with links, and is returned all the same."""
    alone = "The group that deploys is small."
    fill(tenant, DEPLOYS, SITS, alone, *OTHERS)
    plain, linked = (
        {one["memory"]["content"]: one["score"] for one in answer["results"]}
        for answer in (ask(tenant, graph=graph, min_score="auto") for graph in (False, True))
    )
    assert set(plain) <= set(linked)
    assert linked[alone] < plain[alone]


def test_off_is_what_recall_answers_without_the_code(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tenant, DEPLOYS, SITS, *OTHERS)
    off = found(tenant, uses_graph=False)
    with in_workspace(tenant.workspace):
        for model in (MemoryEntity, EntityCount, Derivation):
            model.objects.all().delete()

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("links were read")

    monkeypatch.setattr(links.LinkReader, "__init__", refuse)
    assert repr(found(tenant, uses_graph=False)) == repr(off)
    assert not {"graph_activation", "direct", "best_direct"} & set(off[0])
    assert ask(tenant, graph=False)["associations"] == []


def test_null_is_the_setting_of_the_workspace(tenant: Tenant) -> None:
    fill(tenant, DEPLOYS, SITS, *OTHERS)
    for is_enabled in (True, False):
        tenant.workspace.settings = {"graph_enabled": is_enabled}
        tenant.workspace.save()
        tenant = replace(tenant, workspace=Workspace.objects.get(pk=tenant.workspace.pk))
        assert found(tenant, uses_graph=None) == found(tenant, uses_graph=is_enabled)
    assert found(tenant, uses_graph=True) != found(tenant, uses_graph=False)


def test_a_time_before_has_no_links(tenant: Tenant) -> None:
    fill(tenant, DEPLOYS, SITS)
    at = timezone.now().isoformat()
    body = {"query": QUESTION, "graph": True, "as_of": at}
    assert tenant.reader.post("memories/recall", body).status_code == 422
    tenant.workspace.settings = {"graph_enabled": True}
    tenant.workspace.save()
    assert ask(tenant, as_of=at)["associations"] == []


@pytest.mark.parametrize("hidden", ["forgotten_at", "superseded_at", "retired_at", "culled_at"])
def test_hidden_memories_are_not_walked_through(tenant: Tenant, hidden: str) -> None:
    start, middle, end = fill(tenant, "Falcon flies at dawn.", "Ledger nine.", "Tulips bloom.")
    with in_workspace(tenant.workspace):
        Derivation.objects.create(source_id=start, derived_id=middle)
        Derivation.objects.create(source_id=middle, derived_id=end)
    assert led_to(ask(tenant, "When does Falcon fly?", graph=True))[end] == [start, middle, end]
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=middle).update(**{hidden: NOW})
    answer = ask(tenant, "When does Falcon fly?", graph=True)
    assert not {middle, end} & set(led_to(answer))


@pytest.mark.parametrize("through", ["an entity", "a note"])
def test_forgotten_memories_take_no_place_of_live_ones(tenant: Tenant, through: str) -> None:
    put(tenant, "ops/harbour.md")
    linked = "" if through == "an entity" else " See [[harbour]]."
    name = "Harbour" if through == "an entity" else "The crew"
    gone = fill(tenant, *(f"{name} once kept a {word}.{linked}" for word in WORDS))
    deploys = f"Falcon is deployed by {name} on Fridays.{linked}"
    start, end = fill(tenant, deploys, f"{name} has its desks on the fourth floor.{linked}")
    body = {"ids": gone, "confirm": True}
    assert tenant.agent.post("memories/forget", body).json()["forgotten"] == len(gone)
    read_due(tenant.workspace)
    assert led_to(ask(tenant, graph=True))[end][0] == start
    others = tenant.reader.get(f"memories/{start}/associations", {"limit": 50}).json()["results"]
    assert end in {one["other"]["id"] for one in others}
    assert not set(gone) & {one["other"]["id"] for one in others}


@pytest.mark.parametrize("order", ["hidden first", "hidden last"])
def test_more_hidden_memories_than_are_scanned_take_no_place_of_those_that_link_their_note(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    for module in (links, associations):
        monkeypatch.setattr(module, "LINKS_SCANNED", 10)
    put(tenant, "ops/rota.md")
    contents = [f"The crew once kept a {word}, see [[rota]]." for word in WORDS]
    live = ["Falcon is deployed by the crew on Fridays [[rota]].", "Desks are upstairs [[rota]]."]
    if order == "hidden first":
        gone, (start, end) = fill(tenant, *contents), fill(tenant, *live)
    else:
        (start, end), gone = fill(tenant, *live), fill(tenant, *contents)
    body = {"ids": gone, "confirm": True}
    assert tenant.agent.post("memories/forget", body).json()["forgotten"] == len(gone)

    def shared() -> set[str]:
        return {
            one["other"]["id"]
            for one in tenant.reader.get(f"memories/{start}/associations").json()["results"]
            if one["kind"] == "shared_note"
        }

    assert shared() == {end}
    assert end in led_to(ask(tenant, "When is Falcon deployed?", graph=True))
    assert tenant.agent.post("memories/restore", {"ids": gone[:1]}).status_code == 200
    assert shared() == {end, gone[0]}


def test_links_of_a_memory_that_is_hidden_while_it_is_reworded_stay_those_of_a_hidden_one(
    tenant: Tenant,
) -> None:
    put(tenant, "ops/rota.md")
    [memory] = fill(tenant, "Desks are upstairs [[rota]].")
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=memory).update(retired_at=NOW)
        write_memory_links({UUID(memory): "Desks are upstairs, see [[rota]]."})
        assert not NoteLink.objects.get(memory=memory).is_live


def test_filters_hold_along_the_walk(tenant: Tenant) -> None:
    (deploys,) = fill(tenant, DEPLOYS, scope="team/a")
    fill(tenant, SITS, scope="team/b")
    assert len(ask(tenant, graph=True)["results"]) == 2
    answer = ask(tenant, graph=True, scope="team/a")
    assert [r["memory"]["content"] for r in answer["results"]] == [DEPLOYS]
    assert [one["path"] for one in answer["associations"]] == [[deploys]]


def test_another_workspace_is_never_reached(tenant: Tenant) -> None:
    other = build_tenant("other-links")
    (deploys,) = fill(tenant, DEPLOYS)
    fill(other, SITS)
    answer = ask(tenant, graph=True)
    assert [r["memory"]["content"] for r in answer["results"]] == [DEPLOYS]
    assert led_to(answer) == {deploys: [deploys]}


def test_an_entity_that_the_query_names_leads_to_what_is_about_it(tenant: Tenant) -> None:
    fill(tenant, *OTHERS)
    about, _ = fill(tenant, "Quarrel CLI: prints tables.", "We like Quarrel CLI.")
    answer = ask(tenant, "what prints like quarrel cli", graph=True)
    step = next(one for one in answer["associations"] if one["memory"]["id"] == about)["steps"][0]
    assert step == {"kind": "query", "id": None, "name": "quarrel cli"}


def test_links_of_what_the_query_names_are_read_with_those_of_the_seeds(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tenant, *(f"Quarrel CLI: prints tables of Osprey {n}." for n in range(3)))
    fill(tenant, *(f"Osprey {n} belongs to Falcon." for n in range(3)), *OTHERS)
    read: list[dict[str, list[str]]] = []
    rows = links.LinkReader._rows

    def noting(reader: links.LinkReader, keys: dict[str, list[str]]) -> Any:
        read.extend([{kind: sorted(own) for kind, own in keys.items()}] if keys else [])
        return rows(reader, keys)

    monkeypatch.setattr(links.LinkReader, "_rows", noting)
    monkeypatch.setattr(core, "SEEDS", 1)  # the others are read ahead, in the second statement
    ask(tenant, "what prints like quarrel cli", graph=True)
    assert [sorted(keys) for keys in read[:2]] == [["asked", "memory"], ["entity", "memory"]]
    assert len(read[1]["memory"]) == 2
    named = [key for keys in read for key in keys.get("memory", ())]
    assert len(named) == len(set(named))


def test_notes_that_memories_link_associate_them(tenant: Tenant) -> None:
    put(tenant, "plans/rota.md")
    put(tenant, "plans/runbook.md", "# Plan\n\nsteps [[rota]]\n")
    first, second, third = fill(
        tenant, "Falcon restarts as in [[runbook]].", "Keys hang as in [[runbook]].",
        "Shifts swap, see [[rota]].",
    )  # fmt: skip
    answer = ask(tenant, "How does Falcon restart?", graph=True)
    led = led_to(answer)
    assert led[second] == [first, second]
    assert led[third] == [first, third]  # by the note that the first's note links
    names = [
        [step["name"] for step in one["steps"] if step["kind"] == "note"]
        for one in answer["associations"]
        if one["memory"]["id"] == third
    ]
    assert names == [["Plan", "rota"]]


def test_links_take_a_bounded_number_of_queries(tenant: Tenant) -> None:
    def queries() -> int:
        query = Query(QUESTION, min_score=None, is_recorded=False, uses_graph=True)
        with CaptureQueriesContext(connection) as captured:
            recall(tenant.workspace, query, now=NOW)
        return len(captured)

    fill(tenant, DEPLOYS, SITS, *OTHERS)
    few = queries()
    fill(tenant, *(f"Harbour and Osprey {n} share room {n}." for n in range(7)))
    fill(tenant, *(f"Osprey {n} belongs to Falcon." for n in range(7)))
    assert queries() <= few + 2  # a walk of six steps at most, however many links there are


def test_why_not_tells_the_part_of_links(tenant: Tenant) -> None:
    _, sits, *_ = fill(tenant, DEPLOYS, SITS, *OTHERS)
    tenant.workspace.settings = {"graph_enabled": True}
    tenant.workspace.save()
    asked = {"query": QUESTION, "min_score": 0}
    told = tenant.reader.get(f"memories/{sits}/why-not", asked).json()
    assert "Links raised its match from" in told["reasons"][0]["message"]
    assert told["explain"]["graph_activation"] > 0


def test_why_not_explains_a_memory_that_only_links_bring(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_service, "BREADTH", 1)  # of each index only the best is found
    deploys, sits, *_ = fill(tenant, DEPLOYS, SITS, *OTHERS)

    def told(memory: str, graph: str) -> tuple[bool, str, bool]:
        asked = {"query": QUESTION, "min_score": 0, "k": 1, "graph": graph}
        body = tenant.reader.get(f"memories/{memory}/why-not", asked).json()
        [reason] = body["reasons"]
        return body["rank"] is not None, reason["message"], "graph_activation" in body["explain"]

    is_ranked, why, has_activation = told(sits, "true")
    assert (is_ranked, has_activation) == (True, True)
    assert "Only links led to it. Links raised its match from" in why
    is_ranked, why, has_activation = told(sits, "false")
    assert (is_ranked, has_activation) == (False, False)
    assert "inks" not in why
    assert "Only links" not in told(deploys, "true")[1]


@pytest.mark.parametrize("graph", ["", "yes", "1", "null", "True"])
def test_why_not_takes_true_or_false(tenant: Tenant, graph: str) -> None:
    [deploys] = fill(tenant, DEPLOYS)
    asked = {"query": QUESTION, "graph": graph}
    answer = tenant.reader.get(f"memories/{deploys}/why-not", asked)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == ["graph"]
