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
from tests.conftest import House

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


def commit(house: House, content: str, **fields: Any) -> Any:
    return house.agent.post("memories", {"content": content, **fields}).json()


def merged_observation(house: House, memory_id: str, content: str) -> str:
    with in_workspace(house.workspace):
        row = Observation.objects.get(memory=memory_id, content=content, outcome="merged")
        return str(row.pk)


def split(house: House, memory_id: str, observation_id: str) -> Any:
    return house.agent.post(f"memories/{memory_id}/split", {"observation_id": observation_id})


def shown(memory: dict[str, Any]) -> dict[str, Any]:
    return {name: memory[name] for name in COMPARED}


def index_of(house: House) -> list[Any]:
    with in_workspace(house.workspace):
        size = CorpusSize.objects.get()
        counts = TermCount.objects.filter(memories__gt=0).order_by("term")
        return [size.memories, size.words, *counts.values_list("term", "memories")]


def test_a_merge_writes_both_sides_of_the_survivor(house: House) -> None:
    stored = commit(house, PLAIN, tags=["a"], confidence=0.4)["memory"]
    answer = commit(house, FINER, tags=["b"], confidence=0.8, pinned=True, importance=0.9)
    assert (answer["outcome"], answer["memory"]["id"]) == ("merged", stored["id"])
    survivor = answer["memory"]
    assert survivor["content"] == FINER
    assert (survivor["tags"], survivor["pinned"]) == (["a", "b"], True)
    assert (survivor["confidence"], survivor["importance"]) == (0.8, 0.9)
    with in_workspace(house.workspace):
        merge = Merge.objects.get()
        assert str(merge.memory_id) == stored["id"]
        assert merge.observation is not None
        assert merge.observation.content == FINER
        assert (merge.before["content"], merge.after["content"]) == (PLAIN, FINER)
        assert (merge.before["tags"], merge.after["tags"]) == (["a"], ["a", "b"])
        assert (merge.relation, merge.reasons) == ("refines", ["adds 14:00 UTC"])
        assert merge.similarity is not None
        assert merge.similarity > 0.9


def test_split_undoes_a_merge_exactly(house: House, neighbour: House) -> None:
    neighbour.admin.patch("workspace/settings", {"gate_policy": "off"})
    for content in (PLAIN, FINER):
        commit(neighbour, content)
    before = commit(house, PLAIN, tags=["a"], metadata={"x": 1}, session_key="s-1")["memory"]
    sent = {
        "tags": ["b"], "confidence": 0.8, "importance": 0.9, "pinned": True, "kind": "constraint",
        "metadata": {"y": 2}, "source": "runbook", "agent": "ops", "session_key": "s-2",
        "observed_at": "2026-01-02T03:04:05Z",
    }  # fmt: skip
    commit(house, FINER, **sent)
    observation = merged_observation(house, before["id"], FINER)
    answer = split(house, before["id"], observation)
    assert answer.status_code == 200
    survivor, memory = answer.json()["survivor"], answer.json()["memory"]
    assert answer.json()["kept"] == []
    assert shown(survivor) == shown(before)
    assert memory["id"] != before["id"]
    expected = {**sent, "content": FINER, "provenance": "assistant_derived", "state": "active"}
    assert {name: memory[name] for name in expected} == expected
    assert index_of(house) == index_of(neighbour)


def test_both_are_recalled_by_their_own_words_after_a_split(house: House) -> None:
    survivor = commit(house, PLAIN)["memory"]["id"]
    commit(house, FINER)
    done = split(house, survivor, merged_observation(house, survivor, FINER)).json()
    found = house.reader.post("memories/recall", {"query": "When does the deploy run?"}).json()
    contents = {row["memory"]["id"]: row["memory"]["content"] for row in found["results"]}
    assert contents == {survivor: PLAIN, done["memory"]["id"]: FINER}


def test_history_and_detection_hear_of_a_split(house: House) -> None:
    survivor = commit(house, PLAIN)["memory"]["id"]
    commit(house, FINER)
    observation = merged_observation(house, survivor, FINER)
    memory = split(house, survivor, observation).json()["memory"]["id"]
    told = house.reader.get(f"memories/{survivor}/history").json()["results"]
    assert [entry["type"] for entry in told] == [
        "memory.split", "memory.merged", "memory.committed", "memory.committed",
    ]  # fmt: skip
    assert told[0]["data"]["into"] == memory
    assert told[0]["content"] == FINER  # the wording before
    (first,) = house.reader.get(f"memories/{memory}/history").json()["results"]
    assert (first["type"], first["content"]) == ("memory.separated", FINER)
    with in_workspace(house.workspace):
        due = {str(i) for i in DetectionDue.objects.values_list("memory_id", flat=True)}
    assert {survivor, memory} <= due


def test_the_gate_never_merges_a_split_pair_again(house: House) -> None:
    survivor = commit(house, PLAIN)["memory"]["id"]
    commit(house, FINER)
    memory = split(house, survivor, merged_observation(house, survivor, FINER)).json()["memory"]
    assert commit(house, FINER)["outcome"] == "duplicate"
    house.admin.patch(f"memories/{memory['id']}", {"scope": "elsewhere"})
    answer = commit(house, FINER)
    assert answer["outcome"] == "created"
    assert answer["gate"]["reasons"] == ["these two are kept apart since a split or a rejection"]
    with in_workspace(house.workspace):
        assert Merge.objects.filter(split_at=None).count() == 0


def test_a_later_rewording_stays_and_the_answer_says_so(house: House) -> None:
    survivor = commit(house, PLAIN, confidence=0.4)["memory"]["id"]
    commit(house, FINER, confidence=0.8)
    house.agent.patch(f"memories/{survivor}", {"content": "Deploys run on Fridays."})
    answer = split(house, survivor, merged_observation(house, survivor, FINER)).json()
    assert answer["kept"] == ["content"]
    assert answer["survivor"]["content"] == "Deploys run on Fridays."
    assert answer["survivor"]["confidence"] == 0.4
    assert answer["memory"]["content"] == FINER


def test_merges_are_taken_apart_in_any_order(house: House) -> None:
    third = "The deploy runs on Thursday at 14:00 UTC via Jenkins."
    survivor = commit(house, PLAIN, confidence=0.4)["memory"]["id"]
    assert commit(house, FINER, confidence=0.6)["outcome"] == "merged"
    assert commit(house, third, confidence=0.5)["outcome"] == "merged"
    first = split(house, survivor, merged_observation(house, survivor, FINER)).json()
    assert (first["survivor"]["content"], first["survivor"]["confidence"]) == (third, 0.5)
    second = split(house, survivor, merged_observation(house, survivor, third)).json()
    assert (second["survivor"]["content"], second["survivor"]["confidence"]) == (PLAIN, 0.4)
    listed = house.reader.get("memories").json()["results"]
    assert sorted(row["content"] for row in listed) == sorted([PLAIN, FINER, third])


def test_splitting_twice_is_refused_and_names_the_memory(house: House) -> None:
    survivor = commit(house, PLAIN)["memory"]["id"]
    commit(house, FINER)
    observation = merged_observation(house, survivor, FINER)
    memory = split(house, survivor, observation).json()["memory"]["id"]
    again = split(house, survivor, observation)
    assert again.status_code == 409
    assert again.json()["detail"] == "That merge was split already."
    at_its_new_place = split(house, memory, observation)
    assert at_its_new_place.status_code == 422
    assert "was split off already" in at_its_new_place.content.decode()


@pytest.mark.parametrize("outcome", ["created", "duplicate"])
def test_what_was_never_merged_is_not_split(house: House, outcome: str) -> None:
    memory = commit(house, PLAIN)["memory"]["id"]
    commit(house, PLAIN)
    with in_workspace(house.workspace):
        observation = Observation.objects.get(outcome=outcome).pk
    answer = split(house, memory, str(observation))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "observation_id"


def test_a_forgotten_memory_is_not_split(house: House) -> None:
    survivor = commit(house, PLAIN)["memory"]["id"]
    commit(house, FINER)
    observation = merged_observation(house, survivor, FINER)
    house.agent.post("memories/forget", {"ids": [survivor], "confirm": True})
    answer = split(house, survivor, observation)
    assert answer.status_code == 409
    assert FINER not in answer.content.decode()
    assert commit(house, FINER)["outcome"] == "suppressed"


def test_a_statement_that_lives_elsewhere_in_the_same_place_is_not_doubled(house: House) -> None:
    survivor = commit(house, PLAIN)["memory"]["id"]
    commit(house, FINER)
    observation = merged_observation(house, survivor, FINER)
    house.admin.patch("workspace/settings", {"gate_policy": "off"})
    house.agent.patch(f"memories/{survivor}", {"content": "The deploy is a weekly affair."})
    twin = commit(house, FINER)["memory"]["id"]
    before = house.reader.get(f"memories/{survivor}").json()
    answer = split(house, survivor, observation)
    assert answer.status_code == 409
    assert twin != survivor
    assert house.reader.get(f"memories/{survivor}").json() == before


def test_another_workspaces_merge_is_not_found(house: House, neighbour: House) -> None:
    survivor = commit(neighbour, PLAIN)["memory"]["id"]
    commit(neighbour, FINER)
    observation = merged_observation(neighbour, survivor, FINER)
    assert split(house, survivor, observation).status_code == 404
    mine = commit(house, PLAIN)["memory"]["id"]
    assert split(house, mine, observation).status_code == 422
    assert neighbour.reader.get(f"memories/{survivor}").json()["content"] == FINER


def test_merge_keeps_the_best_class_and_is_embedded_anew(house: House) -> None:  # pitfall 19
    stored = commit(house, SAID_TOO, confidence=0.9)["memory"]["id"]
    answer = commit(house, SAID, provenance="user_stated", confidence=0.6)
    assert answer["outcome"] == "merged"
    survivor = answer["memory"]
    assert (survivor["id"], survivor["content"]) == (stored, SAID)
    assert (survivor["provenance"], survivor["confidence"]) == ("user_stated", 0.6)
    asked = {"query": SAID, "record": False}
    (found,) = house.reader.post("memories/recall", asked).json()["results"]
    assert found["cosine"] == pytest.approx(1.0, abs=1e-5)
    back = split(house, stored, merged_observation(house, stored, SAID)).json()["survivor"]
    assert (back["content"], back["provenance"], back["confidence"]) == (
        SAID_TOO, "assistant_derived", 0.9,
    )  # fmt: skip
    found = house.reader.post("memories/recall", asked).json()["results"]
    cosines = {row["memory"]["content"]: row["cosine"] for row in found}
    assert cosines[SAID] == pytest.approx(1.0, abs=1e-5)
    assert cosines[SAID_TOO] < 0.999


def test_near_copies_with_another_number_never_merge(house: House) -> None:  # pitfall 18
    commit(house, "The API rate limit is 1000 requests per second.")
    answer = commit(house, "The API rate limit is 5000 requests per second.")
    assert answer["outcome"] == "kept_apart"
    assert answer["gate"]["similarity"] > 0.95
    with in_workspace(house.workspace):
        assert (Merge.objects.count(), Memory.objects.count()) == (0, 2)


def test_superseding_inherits_nothing(house: House) -> None:
    old = commit(house, PLAIN, tags=["a"], pinned=True, importance=0.9)["memory"]["id"]
    new = commit(house, FINER, supersedes=old)["memory"]
    assert (new["tags"], new["pinned"], new["importance"]) == ([], False, 0.5)
    with in_workspace(house.workspace):
        assert (Merge.objects.count(), MergeSuggestion.objects.count()) == (0, 0)


def test_a_merge_with_an_unknown_source_is_refused_whole(house: House) -> None:
    stored = commit(house, PLAIN)["memory"]
    answer = house.agent.post(
        "memories",
        {"content": FINER, "derived_from": ["6f1c3a52-0b6f-4f1e-8d57-111111111111"]},
    )
    assert answer.status_code == 422
    assert house.reader.get(f"memories/{stored['id']}").json() == stored


def test_a_merge_asks_as_often_among_many_memories_as_among_few(house: House) -> None:
    def merging(scope: str, others: int) -> int:
        commit(house, PLAIN, scope=scope)
        for number in range(others):
            commit(house, f"Crate {number} smells of cedar.", scope=scope)
        with CaptureQueriesContext(connection) as asked:
            assert commit(house, FINER, scope=scope)["outcome"] == "merged"
        return len(asked)

    merging("warm", 0)
    few, many = merging("few", 1), merging("many", 12)
    assert (few, many <= 70) == (many, True)
