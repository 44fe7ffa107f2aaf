"""Merge suggestions: asked once, answered by reviewers, taken apart again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.refusals import InvalidError
from engram.kernel.tenancy import in_workspace
from memories.core import lengths
from memories.models import Memory, Merge, MergeSuggestion, Observation, SuggestionStatus
from memories.services.gate import answer_suggestion
from memories.services.gate.suggestions import suggest
from tests.conftest import House, build_house

PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."


def commit(house: House, content: str, **fields: Any) -> Any:
    return house.agent.post("memories", {"content": content, **fields}).json()


def ask(house: House, **fields: Any) -> tuple[str, str, str]:
    """Let the gate suggest a pair; return the older one, the newer one and the suggestion."""
    older = commit(house, PLAIN, provenance="user_stated", **fields)["memory"]["id"]
    answer = commit(house, FINER, **fields)
    assert answer["outcome"] == "suggested"
    (row,) = house.reader.get("merge-suggestions").json()["results"]
    return older, answer["memory"]["id"], row["id"]


def answer(house: House, suggestion: str, verb: str, **body: Any) -> Any:
    return house.reviewer.post(f"merge-suggestions/{suggestion}/{verb}", body)


def listed(house: House, **filters: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = house.reader.get("merge-suggestions", filters).json()["results"]
    return rows


def test_a_refinement_of_a_lower_class_is_suggested_with_both_shown(
    house: House, neighbour: House
) -> None:
    ask(neighbour)
    older, newer, _ = ask(house)
    (row,) = listed(house)
    assert (row["status"], row["relation"], row["detected_by"]) == ("open", "refines", "gate")
    assert [(m["id"], m["content"]) for m in row["memories"]] == [(older, PLAIN), (newer, FINER)]
    assert row["reasons"][0] == "adds 14:00 UTC"
    assert listed(house, memory_id=older) == [row]
    assert listed(house, status="rejected") == []


def test_one_suggestion_says_what_a_merge_drops_and_the_list_compares_nothing(
    house: House, neighbour: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, foreign = ask(neighbour)
    older, newer, suggestion = ask(house)
    assert house.reader.get(f"merge-suggestions/{foreign}").status_code == 404
    shown = house.reader.get(f"merge-suggestions/{suggestion}").json()
    merges = shown.pop("merges")
    assert [(m["keep"], m["drops"]) for m in merges] == [(older, [FINER]), (newer, [])]
    compared = Mock()
    monkeypatch.setattr(answer_suggestion, "compare", compared)
    monkeypatch.setattr(answer_suggestion, "missing", compared)
    assert listed(house) == [shown]
    assert not compared.called


def test_long_texts_are_not_compared_and_merge_by_class_and_age(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lengths, "MAX_COMPARED_CHARS", len(PLAIN) + len(FINER) - 1)
    older, newer, suggestion = ask(house, agent="a")
    monkeypatch.setattr(answer_suggestion, "compare", Mock(side_effect=AssertionError))
    monkeypatch.setattr(answer_suggestion, "missing", Mock(side_effect=AssertionError))
    merges = house.reader.get(f"merge-suggestions/{suggestion}").json()["merges"]
    assert [(m["keep"], m["is_default"], m["drops"]) for m in merges] == [
        (older, True, [FINER]),  # a person's own words
        (newer, False, [PLAIN]),
    ]
    assert answer(house, suggestion, "accept").status_code == 200
    with in_workspace(house.workspace):
        assert Memory.objects.get(pk=older).content == PLAIN
        assert Merge.objects.get().relation == "refines"


def test_accepting_keeps_the_older_one_with_the_higher_classes_wording(house: House) -> None:
    older, newer, suggestion = ask(house)
    with in_workspace(house.workspace):
        Memory.objects.filter(pk=older).update(recall_count=2, used_count=1)
        Memory.objects.filter(pk=newer).update(recall_count=3, hit_count=4)
    accepted = answer(house, suggestion, "accept")
    assert (accepted.status_code, accepted.json()["status"]) == (200, "accepted")
    survivor = house.reader.get(f"memories/{older}").json()
    assert (survivor["content"], survivor["provenance"]) == (PLAIN, "user_stated")
    assert [survivor[f"{name}_count"] for name in ("recall", "injected", "hit", "used")] == [
        5, 0, 4, 1,
    ]  # fmt: skip
    absorbed = house.reader.get(f"memories/{newer}").json()
    assert (absorbed["state"], absorbed["superseded_by"]) == ("superseded", older)
    assert listed(house) == []


def test_the_reviewer_may_choose_the_wording(house: House) -> None:
    older, newer, suggestion = ask(house)
    stranger = commit(house, "Lunch is at noon.")["memory"]["id"]
    assert answer(house, suggestion, "accept", keep=stranger).status_code == 422
    assert answer(house, suggestion, "accept", keep=newer).status_code == 200
    assert house.reader.get(f"memories/{older}").json()["content"] == FINER
    found = house.reader.post("memories/recall", {"query": FINER, "record": False}).json()
    assert found["results"][0]["memory"]["id"] == older
    assert found["results"][0]["cosine"] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("keeps_newer", [True, False])
def test_an_accepted_merge_is_split_exactly(house: House, keeps_newer: bool) -> None:
    older, newer, suggestion = ask(house, tags=["x"])
    with in_workspace(house.workspace):
        Memory.objects.filter(pk=older).update(recall_count=2)
        Memory.objects.filter(pk=newer).update(recall_count=3)
    changing = {"updated_at", "revision", "disputed", "conflicts"}
    before = {i: house.reader.get(f"memories/{i}").json() for i in (older, newer)}
    answer(house, suggestion, "accept", keep=newer if keeps_newer else older)
    with in_workspace(house.workspace):
        observation = str(Observation.objects.get(outcome="absorbed").pk)
    body = {"observation_id": observation}
    assert house.agent.post(f"memories/{older}/split", body).status_code == 403
    done = house.reviewer.post(f"memories/{older}/split", body)
    assert (done.status_code, done.json()["kept"]) == (200, [])
    for memory_id, was in before.items():
        now = house.reader.get(f"memories/{memory_id}").json()
        assert {k: v for k, v in now.items() if k not in changing} == {
            k: v for k, v in was.items() if k not in changing
        }
    with in_workspace(house.workspace):
        pair = [Memory.objects.get(pk=i) for i in (older, newer)]
        again = suggest(
            *pair, relation="same", detected_by="agent", actor=SYSTEM, now=timezone.now()
        )
    assert again is None


def test_answers_are_idempotent_and_the_opposite_is_refused(house: House) -> None:
    _, _, suggestion = ask(house)
    first = answer(house, suggestion, "accept")
    assert answer(house, suggestion, "accept").json() == first.json()
    assert answer(house, suggestion, "reject").status_code == 409
    with in_workspace(house.workspace):
        assert Merge.objects.count() == 1


def test_a_rejected_pair_is_not_suggested_until_a_member_is_reworded(house: House) -> None:
    older, newer, suggestion = ask(house)
    assert answer(house, suggestion, "reject").json()["status"] == "rejected"

    def again() -> MergeSuggestion | None:
        with in_workspace(house.workspace):
            pair = [Memory.objects.get(pk=i) for i in (newer, older)]
            return suggest(
                *pair, relation="same", detected_by="agent", actor=SYSTEM, now=timezone.now()
            )

    assert again() is None
    house.reviewer.patch(f"memories/{newer}", {"tags": ["new"]})
    assert again() is None
    house.reviewer.patch(f"memories/{newer}", {"content": "Deploys run on Thursdays at 15:00."})
    assert again() is not None
    assert [row["detected_by"] for row in listed(house)] == ["agent"]


def test_a_pair_is_suggested_once_whichever_way_round(house: House) -> None:
    older, newer, suggestion = ask(house)
    with in_workspace(house.workspace):
        pair = [Memory.objects.get(pk=i) for i in (newer, older)]
        for one, two in (pair, pair[::-1]):
            found = suggest(
                one, two, relation="same", detected_by="agent", actor=SYSTEM, now=timezone.now()
            )
            assert str(found and found.pk) == suggestion
    assert len(listed(house, status="all")) == 1


def test_only_two_memories_of_one_place_are_suggested(house: House) -> None:
    one = commit(house, PLAIN)["memory"]["id"]
    two = commit(house, PLAIN, scope="x")["memory"]["id"]
    with in_workspace(house.workspace):
        a, b = Memory.objects.get(pk=one), Memory.objects.get(pk=two)
        for other in (a, b):
            with pytest.raises(InvalidError):
                suggest(
                    a, other, relation="same", detected_by="agent", actor=SYSTEM,
                    now=timezone.now(),
                )  # fmt: skip


@pytest.mark.parametrize("change", ["forget", "reword"])
def test_a_suggestion_lapses_with_its_members(house: House, change: str) -> None:
    _, newer, suggestion = ask(house)
    if change == "forget":
        house.agent.post("memories/forget", {"ids": [newer], "confirm": True})
    else:
        house.reviewer.patch(f"memories/{newer}", {"content": "Deploys run on Fridays."})
    assert listed(house) == []
    (lapsed,) = listed(house, status="lapsed")
    assert (lapsed["id"], lapsed["status"]) == (suggestion, "lapsed")
    for verb in ("accept", "reject"):
        assert answer(house, suggestion, verb).status_code == 409
    if change == "forget":
        assert lapsed["memories"][1]["content"] is None
        assert lapsed["reasons"] == []
        assert "14:00" not in house.reader.get("merge-suggestions?status=all").content.decode()
        house.agent.post("memories/restore", {"ids": [newer]})
        assert [row["id"] for row in listed(house)] == [suggestion]


@pytest.mark.parametrize(
    ("policy", "outcome", "suggestions"), [("suggest", "suggested", 1), ("off", "created", 0)]
)
def test_policies_that_merge_nothing(
    house: House, policy: str, outcome: str, suggestions: int
) -> None:
    house.admin.patch("workspace/settings", {"gate_policy": policy})
    commit(house, PLAIN)
    assert commit(house, FINER)["outcome"] == outcome
    assert len(listed(house)) == suggestions
    with in_workspace(house.workspace):
        assert (Merge.objects.count(), Memory.objects.count()) == (0, 2)


def test_a_conflict_with_any_neighbour_keeps_apart_what_is_the_same_as_another(
    house: House,
) -> None:
    house.admin.patch("workspace/settings", {"gate_policy": "off"})
    same = commit(house, "The API rate limit is 1000 requests per second.")["memory"]["id"]
    commit(house, "The API rate limit is 5000 requests per second.")
    house.admin.patch("workspace/settings", {"gate_policy": "merge"})
    draft = commit(house, "The rate limit of the API is 1000 requests per second.")
    assert draft["outcome"] == "kept_apart"
    (row,) = listed(house)
    assert {m["id"] for m in row["memories"]} == {same, draft["memory"]["id"]}


def test_every_neighbour_that_may_say_the_same_is_suggested(house: House) -> None:
    house.admin.patch("workspace/settings", {"gate_policy": "off"})
    said = ("Our deploys go out on Thursday mornings.", "The deploys go out on Thursday mornings.")
    stored = {commit(house, content)["memory"]["id"] for content in said}
    house.admin.patch("workspace/settings", {"gate_policy": "suggest"})
    draft = commit(house, "Deploys go out on Thursday mornings.")
    assert draft["outcome"] == "suggested"
    pairs = [{m["id"] for m in row["memories"]} for row in listed(house)]
    assert sorted(map(sorted, pairs)) == sorted(sorted([i, draft["memory"]["id"]]) for i in stored)


def test_an_agent_does_not_reword_what_a_person_wrote(house: House) -> None:
    memory = commit(house, PLAIN)["memory"]["id"]
    with in_workspace(house.workspace):
        from engram.kernel.models import Event

        Event.objects.filter(object_id=memory).update(actor_kind="user")
    assert commit(house, FINER)["outcome"] == "suggested"
    assert house.reader.get(f"memories/{memory}").json()["content"] == PLAIN


def test_the_list_asks_as_often_for_many_as_for_one(house: House) -> None:
    ask(house, scope="s0")
    with CaptureQueriesContext(
        connection,
    ) as one:
        listed(house)
    for number in range(1, 4):
        commit(house, PLAIN, provenance="user_stated", scope=f"s{number}")
        commit(house, FINER, scope=f"s{number}")
    with CaptureQueriesContext(connection) as many:
        assert len(listed(house)) == 4
    assert len(many) == len(one)


def test_accepting_while_somebody_forgets_has_one_winner(transactional_db: None) -> None:
    house = build_house("busy")
    older, newer, suggestion = ask(house)
    barrier = Barrier(2)

    def run(verb: str) -> Any:
        barrier.wait()
        try:
            if verb == "accept":
                return answer(house, suggestion, "accept").status_code
            body = {"ids": [newer], "confirm": True}
            return house.agent.post("memories/forget", body).json()["forgotten"]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        status, forgotten = pool.map(run, ["accept", "forget"])
    assert (status in {200, 409}, forgotten) == (True, 1)
    survivor = house.reader.get(f"memories/{older}").json()
    with in_workspace(house.workspace):
        stored = MergeSuggestion.objects.get()
        assert Merge.objects.count() == (status == 200)
    expected = SuggestionStatus.ACCEPTED if status == 200 else SuggestionStatus.OPEN
    assert (stored.status, survivor["state"]) == (expected, "active")
    assert listed(house) == []
