"""Nobody is asked the same thing twice: cards, pairs and decisions as they meet the detective.

Most tests are named after the pitfalls 23 and 24 of the census that they pin.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.db import connections
from django.utils import timezone

from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding
from conflicts.models import Conflict, ConflictMember, ConflictPair
from conflicts.services.cards.file import file_findings
from conflicts.services.detection.detect import detect_due
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from tests.conftest import House, build_house

LIMIT = "The API rate limit is {} requests per second."


def commit(house: House, content: str, month: int = 1, **fields: Any) -> str:
    said = {"content": content, "observed_at": f"2026-0{month}-05T09:00:00Z", **fields}
    answer = house.agent.post("memories", said)
    assert answer.status_code in {200, 201}, answer.json()
    return str(answer.json()["memory"]["id"])


def detect(house: House) -> None:
    runs = detect_due(house.workspace, clock=timezone.now)
    assert {run.status for run in runs} <= {"done"}


def cards(house: House, status: str | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = house.reader.get(
        "conflicts", {"status": status} if status else {}
    ).json()["results"]
    return found


def members(card: dict[str, Any]) -> list[str]:
    return [memory["id"] for memory in card["memories"]]


def decide(house: House, card: dict[str, Any], **body: Any) -> None:
    answer = house.reviewer.post(f"conflicts/{card['id']}/resolve", body)
    assert answer.status_code == 200, answer.json()


def patch(house: House, memory: str, content: str) -> None:
    assert house.reviewer.patch(f"memories/{memory}", {"content": content}).status_code == 200


def disagree(house: House) -> tuple[str, str, dict[str, Any]]:
    low = commit(house, LIMIT.format(1000), 1)
    high = commit(house, LIMIT.format(5000), 2)
    detect(house)
    [card] = cards(house)
    return low, high, card


def pairs_of(house: House) -> list[tuple[UUID, UUID]]:
    with in_workspace(house.workspace):
        return sorted(ConflictPair.objects.values_list("lineage_low", "lineage_high"))


@pytest.mark.parametrize("is_reversed", [False, True])
def test_pair_order_does_not_matter(house: House, is_reversed: bool) -> None:
    low, high, card = disagree(house)
    named = [high, low] if is_reversed else [low, high]
    house.agent.post("conflicts", {"memory_ids": named})
    [same] = cards(house)
    assert (same["id"], members(same)) == (card["id"], [low, high])
    assert pairs_of(house) == [(min(UUID(low), UUID(high)), max(UUID(low), UUID(high)))]


@pytest.mark.parametrize("is_at_once", [False, True])
def test_n_disagreeing_numbers_are_one_card(house: House, is_at_once: bool) -> None:
    ids = []
    for month, value in enumerate([1000, 5000, 800, 300, 70, 9], start=1):
        ids.append(commit(house, LIMIT.format(value), month))
        if not is_at_once:
            detect(house)
    detect(house)
    [card] = cards(house)
    assert members(card) == ids
    assert len(pairs_of(house)) == len(list(combinations(ids, 2)))
    # One verdict answers them all: none of the values comes back as another card.
    decide(house, card, verdict="keep", keep=ids[-1:])
    house.reviewer.post("conflicts/detect", {})
    detect(house)
    assert [c["status"] for c in cards(house)] == ["resolved"]


def test_three_fact_arc_stays_whole_and_ordered(house: House) -> None:
    # Written down in another order than that of the story, and found bit by bit, last things first.
    back = commit(house, "Guests of the Gasthof park behind the barn as ever.", 3)
    first = commit(house, "The lot behind the barn is where cars go.", 1)
    moved = commit(house, "Visitors leave their vehicles at the station by now.", 2)
    found = [[back, first], [back, moved, first], [moved, back]]
    answers = [house.agent.post("conflicts", {"memory_ids": ids}) for ids in found]
    assert len({answer.json()["id"] for answer in answers}) == 1
    detect(house)
    [card] = cards(house)
    assert members(card) == [first, moved, back]
    assert [m["position"] for m in card["memories"]] == [0, 1, 2]
    assert len(pairs_of(house)) == 3


def test_decided_conflict_does_not_reappear_for_a_new_revision_of_the_same_claim(
    house: House,
) -> None:
    low, _, card = disagree(house)
    decide(house, card, verdict="both_valid")
    patch(house, low, LIMIT.format("1,000"))
    house.reviewer.post("conflicts/detect", {})
    detect(house)
    assert [c["id"] for c in cards(house)] == [card["id"]]


def test_dismissed_conflict_does_not_reappear_on_the_next_run(house: House) -> None:
    _, _, card = disagree(house)
    decide(house, card, verdict="dismiss")
    for _ in range(2):
        house.reviewer.post("conflicts/detect", {})
        detect(house)
    assert [(c["id"], c["status"]) for c in cards(house)] == [(card["id"], "dismissed")]


@pytest.mark.parametrize("verdict", ["both_valid", "dismiss"])
def test_decided_conflict_reopens_linked_when_a_value_changes_again(
    house: House, verdict: str
) -> None:
    low, high, card = disagree(house)
    decide(house, card, verdict=verdict)
    patch(house, low, LIMIT.format(700))
    detect(house)
    [again] = cards(house, "open")
    assert (again["reopened_from"], again["decided_before"]) == (card["id"], None)
    assert members(again) == [low, high]
    assert len(pairs_of(house)) == 1
    # Deciding that one holds until a claim changes once more, and the link is to the newest.
    decide(house, again, verdict="both_valid")
    house.reviewer.post("conflicts/detect", {})
    detect(house)
    assert cards(house, "open") == []
    patch(house, high, LIMIT.format(9000))
    detect(house)
    assert [c["reopened_from"] for c in cards(house, "open")] == [again["id"]]


def test_a_rejected_value_said_anew_is_stored_and_asked_about_linked(house: House) -> None:
    low, high, card = disagree(house)
    decide(house, card, verdict="keep", keep=[high])
    answer = house.agent.post(
        "memories", {"content": LIMIT.format(1000), "observed_at": "2026-04-01T00:00:00Z"}
    ).json()
    again = answer["memory"]["id"]
    assert (answer["outcome"] in {"created", "kept_apart"}, again != low) == (True, True)
    detect(house)
    [asked] = cards(house, "open")
    assert (asked["reopened_from"], asked["decided_before"]) == (None, card["id"])
    assert members(asked) == [high, again]
    states = {m["id"]: m["state"] for m in asked["memories"]}
    assert states == {high: "active", again: "active"}
    assert house.reader.get(f"memories/{low}").json()["state"] == "superseded"


def test_a_value_that_an_answer_replaced_said_anew_is_asked_about_linked(house: House) -> None:
    _, _, card = disagree(house)
    decide(house, card, verdict="none_valid", answer=LIMIT.format(2000))
    detect(house)
    assert cards(house, "open") == []
    again = commit(house, LIMIT.format(1000), 6, agent="another")
    commit(house, "The canteen opens at noon.", 7)
    detect(house)
    [asked] = cards(house, "open")
    assert (again in members(asked), asked["decided_before"]) == (True, card["id"])


def test_a_value_nobody_rejected_opens_an_unlinked_card(house: House) -> None:
    _, high, card = disagree(house)
    decide(house, card, verdict="keep", keep=[high])
    commit(house, LIMIT.format(40), 6)
    detect(house)
    [asked] = cards(house, "open")
    assert (asked["reopened_from"], asked["decided_before"]) == (None, None)


def test_a_verdict_taken_back_links_nothing(house: House) -> None:
    _, high, card = disagree(house)
    decide(house, card, verdict="keep", keep=[high])
    assert house.reviewer.post(f"conflicts/{card['id']}/undo").status_code == 200
    third = commit(house, LIMIT.format(40), 6)
    detect(house)
    [asked] = cards(house)
    assert (asked["id"], asked["status"], third in members(asked)) == (card["id"], "open", True)


def test_an_erased_member_leaves_no_verdict_behind(house: House) -> None:
    low, high, card = disagree(house)
    decide(house, card, verdict="both_valid")
    assert house.admin.delete(f"memories/{low}").status_code == 204
    other = commit(house, LIMIT.format(40), 6)
    detect(house)
    [asked] = cards(house, "open")
    assert (members(asked), asked["decided_before"]) == ([high, other], None)


def test_other_workspaces_decisions_do_not_count(house: House, neighbour: House) -> None:
    _, _, card = disagree(neighbour)
    decide(neighbour, card, verdict="dismiss")
    _, _, own = disagree(house)
    assert (own["status"], own["reopened_from"], own["decided_before"]) == ("open", None, None)


@pytest.fixture
def shared_house(transactional_db: None) -> House:
    """Return a workspace that several connections see."""
    return build_house("busy")


def test_two_concurrent_runs_file_one_row(shared_house: House) -> None:
    """Both have read the story already when they file, as when a lease was taken over."""
    house = shared_house
    for turn in range(6):
        ids = [commit(house, f"Crate {turn} holds {what}.") for what in ("cedar", "glass", "tin")]
        both_ways = (tuple(ids[:2]), tuple(reversed(ids)))
        barrier = Barrier(2)

        def file(fact_ids: tuple[str, ...], barrier: Barrier = barrier) -> None:
            finding = Finding("ambiguity", fact_ids, fact_ids[:1], "Is it?", "r", "low", 0.5, None)
            barrier.wait()
            try:
                with in_workspace(house.workspace):
                    file_findings([finding], Comparisons(), detected_by="rules", now=timezone.now())
            finally:
                connections.close_all()

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(file, both_ways))
        with in_workspace(house.workspace):
            rows = ConflictMember.objects.filter(memory__in=ids)
            [card] = Conflict.objects.filter(pk__in=rows.values("conflict_id"))
            assert ConflictPair.objects.filter(conflict=card).count() == 3
            assert [str(m.memory_id) for m in card.members.all()] == ids
            opened = Event.objects.filter(type="conflict.opened", object_id=str(card.id))
            assert opened.count() == 1
