"""A merge at commit keeps its books, and can be taken apart exactly."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conflicts.models import DetectionDue
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Merge, MergeSuggestion, Observation
from memories.models.index import CorpusSize, TermCount
from tests.conftest import Tenant

PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."
SAID = "Our deploys go out on Thursday mornings."
SAID_TOO = "Deploys go out on Thursday mornings."
# What a split brings back; times, revision and who merged are history, not content.
COMPARED = (
    "content", "provenance", "confidence", "importance", "kind", "pinned", "metadata", "source",
    "expires_at", "tags", "derived_from", "state", "scope", "project", "agent", "session_key",
    "observed_at",
)  # fmt: skip


def commit(tenant: Tenant, content: str, **fields: Any) -> Any:
    return tenant.agent.post("memories", {"content": content, **fields}).json()


def merged_observation(tenant: Tenant, memory_id: str, content: str) -> str:
    with in_workspace(tenant.workspace):
        row = Observation.objects.get(memory=memory_id, content=content, outcome="merged")
        return str(row.pk)


def split(tenant: Tenant, memory_id: str, observation_id: str) -> Any:
    return tenant.agent.post(f"memories/{memory_id}/split", {"observation_id": observation_id})


def shown(memory: dict[str, Any]) -> dict[str, Any]:
    return {name: memory[name] for name in COMPARED}


def index_of(tenant: Tenant) -> list[Any]:
    with in_workspace(tenant.workspace):
        size = CorpusSize.objects.get()
        counts = TermCount.objects.filter(memories__gt=0).order_by("term")
        return [size.memories, size.words, *counts.values_list("term", "memories")]


def test_a_merge_writes_both_sides_of_the_survivor(tenant: Tenant) -> None:
    stored = commit(tenant, PLAIN, tags=["a"], confidence=0.4)["memory"]
    answer = commit(tenant, FINER, tags=["b"], confidence=0.8, pinned=True, importance=0.9)
    assert (answer["outcome"], answer["memory"]["id"]) == ("merged", stored["id"])
    survivor = answer["memory"]
    assert survivor["content"] == FINER
    assert (survivor["tags"], survivor["pinned"]) == (["a", "b"], True)
    assert (survivor["confidence"], survivor["importance"]) == (0.8, 0.9)
    with in_workspace(tenant.workspace):
        merge = Merge.objects.get()
        assert str(merge.memory_id) == stored["id"]
        assert merge.observation is not None
        assert merge.observation.content == FINER
        assert (merge.before["content"], merge.after["content"]) == (PLAIN, FINER)
        assert (merge.before["tags"], merge.after["tags"]) == (["a"], ["a", "b"])
        assert (merge.relation, merge.reasons) == ("refines", ["adds 14:00 UTC"])
        assert merge.similarity is not None
        assert merge.similarity > 0.9


def test_split_undoes_a_merge_exactly(tenant: Tenant, neighbour: Tenant) -> None:
    neighbour.admin.patch("workspace/settings", {"gate_policy": "off"})
    for content in (PLAIN, FINER):
        commit(neighbour, content)
    before = commit(tenant, PLAIN, tags=["a"], metadata={"x": 1}, session_key="s-1")["memory"]
    sent = {
        "tags": ["b"], "confidence": 0.8, "importance": 0.9, "pinned": True, "kind": "constraint",
        "metadata": {"y": 2}, "source": "runbook", "agent": "ops", "session_key": "s-2",
        "observed_at": "2026-01-02T03:04:05Z",
    }  # fmt: skip
    commit(tenant, FINER, **sent)
    observation = merged_observation(tenant, before["id"], FINER)
    answer = split(tenant, before["id"], observation)
    assert answer.status_code == 200
    survivor, memory = answer.json()["survivor"], answer.json()["memory"]
    assert answer.json()["kept"] == []
    assert shown(survivor) == shown(before)
    assert memory["id"] != before["id"]
    expected = {**sent, "content": FINER, "provenance": "assistant_derived", "state": "active"}
    assert {name: memory[name] for name in expected} == expected
    assert index_of(tenant) == index_of(neighbour)


def test_both_are_recalled_by_their_own_words_after_a_split(tenant: Tenant) -> None:
    survivor = commit(tenant, PLAIN)["memory"]["id"]
    commit(tenant, FINER)
    done = split(tenant, survivor, merged_observation(tenant, survivor, FINER)).json()
    found = tenant.reader.post("memories/recall", {"query": "When does the deploy run?"}).json()
    contents = {row["memory"]["id"]: row["memory"]["content"] for row in found["results"]}
    assert contents == {survivor: PLAIN, done["memory"]["id"]: FINER}


def test_history_and_detection_hear_of_a_split(tenant: Tenant) -> None:
    survivor = commit(tenant, PLAIN)["memory"]["id"]
    commit(tenant, FINER)
    observation = merged_observation(tenant, survivor, FINER)
    memory = split(tenant, survivor, observation).json()["memory"]["id"]
    told = tenant.reader.get(f"memories/{survivor}/history").json()["results"]
    assert [entry["type"] for entry in told] == [
        "memory.split", "memory.merged", "memory.committed", "memory.committed",
    ]  # fmt: skip
    assert told[0]["data"]["into"] == memory
    assert told[0]["content"] == FINER  # the wording before
    (first,) = tenant.reader.get(f"memories/{memory}/history").json()["results"]
    assert (first["type"], first["content"]) == ("memory.separated", FINER)
    with in_workspace(tenant.workspace):
        due = {str(i) for i in DetectionDue.objects.values_list("memory_id", flat=True)}
    assert {survivor, memory} <= due


def test_the_gate_never_merges_a_split_pair_again(tenant: Tenant) -> None:
    survivor = commit(tenant, PLAIN)["memory"]["id"]
    commit(tenant, FINER)
    memory = split(tenant, survivor, merged_observation(tenant, survivor, FINER)).json()["memory"]
    assert commit(tenant, FINER)["outcome"] == "duplicate"
    tenant.admin.patch(f"memories/{memory['id']}", {"scope": "elsewhere"})
    answer = commit(tenant, FINER)
    assert answer["outcome"] == "created"
    assert answer["gate"]["reasons"] == ["these two are kept apart since a split or a rejection"]
    with in_workspace(tenant.workspace):
        assert Merge.objects.filter(split_at=None).count() == 0


def test_a_later_rewording_stays_and_the_answer_says_so(tenant: Tenant) -> None:
    survivor = commit(tenant, PLAIN, confidence=0.4)["memory"]["id"]
    commit(tenant, FINER, confidence=0.8)
    tenant.agent.patch(f"memories/{survivor}", {"content": "Deploys run on Fridays."})
    answer = split(tenant, survivor, merged_observation(tenant, survivor, FINER)).json()
    assert answer["kept"] == ["content"]
    assert answer["survivor"]["content"] == "Deploys run on Fridays."
    assert answer["survivor"]["confidence"] == 0.4
    assert answer["memory"]["content"] == FINER


def test_merges_are_taken_apart_in_any_order(tenant: Tenant) -> None:
    third = "The deploy runs on Thursday at 14:00 UTC via Jenkins."
    survivor = commit(tenant, PLAIN, confidence=0.4)["memory"]["id"]
    assert commit(tenant, FINER, confidence=0.6)["outcome"] == "merged"
    assert commit(tenant, third, confidence=0.5)["outcome"] == "merged"
    first = split(tenant, survivor, merged_observation(tenant, survivor, FINER)).json()
    assert (first["survivor"]["content"], first["survivor"]["confidence"]) == (third, 0.5)
    second = split(tenant, survivor, merged_observation(tenant, survivor, third)).json()
    assert (second["survivor"]["content"], second["survivor"]["confidence"]) == (PLAIN, 0.4)
    listed = tenant.reader.get("memories").json()["results"]
    assert sorted(row["content"] for row in listed) == sorted([PLAIN, FINER, third])


def test_splitting_twice_is_refused_and_names_the_memory(tenant: Tenant) -> None:
    survivor = commit(tenant, PLAIN)["memory"]["id"]
    commit(tenant, FINER)
    observation = merged_observation(tenant, survivor, FINER)
    memory = split(tenant, survivor, observation).json()["memory"]["id"]
    again = split(tenant, survivor, observation)
    assert again.status_code == 409
    assert again.json()["detail"] == "That merge was split already."
    at_its_new_place = split(tenant, memory, observation)
    assert at_its_new_place.status_code == 422
    assert "was split off already" in at_its_new_place.content.decode()


@pytest.mark.parametrize("outcome", ["created", "duplicate"])
def test_what_was_never_merged_is_not_split(tenant: Tenant, outcome: str) -> None:
    memory = commit(tenant, PLAIN)["memory"]["id"]
    commit(tenant, PLAIN)
    with in_workspace(tenant.workspace):
        observation = Observation.objects.get(outcome=outcome).pk
    answer = split(tenant, memory, str(observation))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "observation_id"


def test_a_forgotten_memory_is_not_split(tenant: Tenant) -> None:
    survivor = commit(tenant, PLAIN)["memory"]["id"]
    commit(tenant, FINER)
    observation = merged_observation(tenant, survivor, FINER)
    tenant.agent.post("memories/forget", {"ids": [survivor], "confirm": True})
    answer = split(tenant, survivor, observation)
    assert answer.status_code == 409
    assert FINER not in answer.content.decode()
    assert commit(tenant, FINER)["outcome"] == "suppressed"


def test_a_statement_that_lives_elsewhere_in_the_same_place_is_not_doubled(tenant: Tenant) -> None:
    survivor = commit(tenant, PLAIN)["memory"]["id"]
    commit(tenant, FINER)
    observation = merged_observation(tenant, survivor, FINER)
    tenant.admin.patch("workspace/settings", {"gate_policy": "off"})
    tenant.agent.patch(f"memories/{survivor}", {"content": "The deploy is a weekly affair."})
    twin = commit(tenant, FINER)["memory"]["id"]
    before = tenant.reader.get(f"memories/{survivor}").json()
    answer = split(tenant, survivor, observation)
    assert answer.status_code == 409
    assert twin != survivor
    assert tenant.reader.get(f"memories/{survivor}").json() == before


def test_another_workspaces_merge_is_not_found(tenant: Tenant, neighbour: Tenant) -> None:
    survivor = commit(neighbour, PLAIN)["memory"]["id"]
    commit(neighbour, FINER)
    observation = merged_observation(neighbour, survivor, FINER)
    assert split(tenant, survivor, observation).status_code == 404
    mine = commit(tenant, PLAIN)["memory"]["id"]
    assert split(tenant, mine, observation).status_code == 422
    assert neighbour.reader.get(f"memories/{survivor}").json()["content"] == FINER


def test_merge_keeps_the_best_class_and_is_embedded_anew(tenant: Tenant) -> None:  # pitfall 19
    stored = commit(tenant, SAID_TOO, confidence=0.9)["memory"]["id"]
    answer = commit(tenant, SAID, provenance="user_stated", confidence=0.6)
    assert answer["outcome"] == "merged"
    survivor = answer["memory"]
    assert (survivor["id"], survivor["content"]) == (stored, SAID)
    assert (survivor["provenance"], survivor["confidence"]) == ("user_stated", 0.6)
    asked = {"query": SAID, "record": False}
    (found,) = tenant.reader.post("memories/recall", asked).json()["results"]
    assert found["cosine"] == pytest.approx(1.0, abs=1e-5)
    back = split(tenant, stored, merged_observation(tenant, stored, SAID)).json()["survivor"]
    assert (back["content"], back["provenance"], back["confidence"]) == (
        SAID_TOO, "assistant_derived", 0.9,
    )  # fmt: skip
    found = tenant.reader.post("memories/recall", asked).json()["results"]
    cosines = {row["memory"]["content"]: row["cosine"] for row in found}
    assert cosines[SAID] == pytest.approx(1.0, abs=1e-5)
    assert cosines[SAID_TOO] < 0.999


def test_near_copies_with_another_number_never_merge(tenant: Tenant) -> None:  # pitfall 18
    commit(tenant, "The API rate limit is 1000 requests per second.")
    answer = commit(tenant, "The API rate limit is 5000 requests per second.")
    assert answer["outcome"] == "kept_apart"
    assert answer["gate"]["similarity"] > 0.95
    with in_workspace(tenant.workspace):
        assert (Merge.objects.count(), Memory.objects.count()) == (0, 2)


def test_superseding_inherits_nothing(tenant: Tenant) -> None:
    old = commit(tenant, PLAIN, tags=["a"], pinned=True, importance=0.9)["memory"]["id"]
    new = commit(tenant, FINER, supersedes=old)["memory"]
    assert (new["tags"], new["pinned"], new["importance"]) == ([], False, 0.5)
    with in_workspace(tenant.workspace):
        assert (Merge.objects.count(), MergeSuggestion.objects.count()) == (0, 0)


def test_a_merge_with_an_unknown_source_is_refused_whole(tenant: Tenant) -> None:
    stored = commit(tenant, PLAIN)["memory"]
    answer = tenant.agent.post(
        "memories",
        {"content": FINER, "derived_from": ["6f1c3a52-0b6f-4f1e-8d57-111111111111"]},
    )
    assert answer.status_code == 422
    assert tenant.reader.get(f"memories/{stored['id']}").json() == stored


def test_a_merge_asks_as_often_among_many_memories_as_among_few(tenant: Tenant) -> None:
    def merging(scope: str, others: int) -> int:
        commit(tenant, PLAIN, scope=scope)
        for number in range(others):
            commit(tenant, f"Crate {number} smells of cedar.", scope=scope)
        with CaptureQueriesContext(connection) as asked:
            assert commit(tenant, FINER, scope=scope)["outcome"] == "merged"
        return len(asked)

    merging("warm", 0)
    few, many = merging("few", 1), merging("many", 12)
    assert (few, many <= 70) == (many, True)
