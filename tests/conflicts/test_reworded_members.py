"""A card stays the same card while its members are put in other words, by PATCH or `supersedes`."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from conflicts.models import ConflictMember, ConflictPair, DetectionDue
from conflicts.services.reports.judgements import against
from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Merge
from memories.services.commit.commit import commit_all
from memories.services.commit.draft import Draft
from memories.services.gate.suggestions import suggest
from tests.conflicts.test_identity_of_cards import LIMIT, cards, detect
from tests.conftest import House

OTHERWISE = "Requests to the API are limited to {} per second."
WAYS = ["patch", "supersedes"]


def commit(house: House, content: str, **fields: Any) -> str:
    answer = house.agent.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    return str(answer.json()["memory"]["id"])


def live(card: dict[str, Any]) -> list[str]:
    return [memory["id"] for memory in card["memories"] if memory["state"] == "active"]


def disagree(house: House, *values: int) -> tuple[list[str], dict[str, Any]]:
    ids = [
        commit(house, LIMIT.format(value), observed_at=f"2026-0{month}-05T09:00:00Z")
        for month, value in enumerate(values, start=1)
    ]
    detect(house)
    [card] = cards(house)
    return ids, card


def reword(house: House, memory: str, content: str, way: str) -> str:
    """Put a memory in other words; return the id under which it lives now."""
    if way == "supersedes":
        return commit(house, content, supersedes=memory)
    answer = house.agent.patch(f"memories/{memory}", {"content": content})
    assert answer.status_code == 200, answer.json()
    return memory


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("side", [0, 1])
def test_other_words_of_one_side_stay_on_the_open_card(house: House, way: str, side: int) -> None:
    ids, card = disagree(house, 1000, 5000)
    house.reviewer.post(f"conflicts/{card['id']}/comments", {"text": "Which one?"})
    text = OTHERWISE.format([1000, 5000][side])
    ids[side] = reword(house, ids[side], text, way)
    [asked] = cards(house)  # before anything is read
    assert (asked["id"], asked["status"], text[:-1] in asked["question"]) == (
        card["id"], "open", True,
    )  # fmt: skip
    detect(house)
    [again] = cards(house)
    assert (again["id"], again["status"], sorted(live(again))) == (card["id"], "open", sorted(ids))
    assert text[:-1] in again["question"]
    assert [comment["text"] for comment in again["comments"]] == ["Which one?"]
    with in_workspace(house.workspace):
        assert ConflictPair.objects.count() == 1
        assert not ConflictMember.objects.filter(is_reworded=True).exists()
    yes = house.reviewer.post(f"conflicts/{card['id']}/resolve", {"verdict": "yes"})
    assert yes.status_code == 200
    states = [house.reader.get(f"memories/{i}").json()["state"] for i in ids]
    assert sorted(states) == ["active", "superseded"]


@pytest.mark.parametrize("way", WAYS)
def test_a_value_that_moved_on_is_asked_about_on_the_open_card(house: House, way: str) -> None:
    (low, high), card = disagree(house, 1000, 5000)
    high = reword(house, high, LIMIT.format(7000), way)
    detect(house)
    [again] = cards(house)
    assert (again["id"], again["status"], live(again)) == (card["id"], "open", [low, high])
    assert ("7000" in again["question"], "5000" in again["question"]) == (True, False)
    assert again["yes_keeps"] == [high]


@pytest.mark.parametrize("way", WAYS)
def test_a_card_closes_when_its_sides_agree_by_now(house: House, way: str) -> None:
    (_, high), card = disagree(house, 1000, 5000)
    reword(house, high, OTHERWISE.format(1000), way)
    detect(house)
    assert [(c["id"], c["status"]) for c in cards(house)] == [(card["id"], "resolved")]


@pytest.mark.parametrize("way", WAYS)
def test_one_of_three_that_says_something_else_leaves_the_card(house: House, way: str) -> None:
    (low, high, third), card = disagree(house, 1000, 5000, 800)
    reword(house, third, "The canteen opens at noon.", way)
    detect(house)
    [again] = cards(house)
    assert (again["id"], again["status"]) == (card["id"], "open")
    assert ([m["id"] for m in again["memories"]], live(again)) == ([low, high], [low, high])
    assert "canteen" not in again["question"]
    with in_workspace(house.workspace):
        assert ConflictPair.objects.count() == 1


@pytest.mark.parametrize("way", WAYS)
def test_what_somebody_reported_waits_on_in_other_words(house: House, way: str) -> None:
    one = commit(house, "The retreat is held in Lisbon.")
    other = commit(house, "Requests to the API are limited to 50 per second.")
    card = house.agent.post("conflicts", {"memory_ids": [one, other], "note": ""}).json()
    other = reword(house, other, "The API rate limit is 50 requests per second.", way)
    detect(house)
    [again] = cards(house)
    assert (again["id"], again["status"], live(again)) == (card["id"], "open", [one, other])
    assert again["yes_keeps"] == [other]
    assert "The API rate limit is 50 requests per second" in again["question"]


INVOICES = "Invoices are paid within 30 days."
PARIS = "Paris is the capital of France."


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("by", ["agent", "reviewer"])
def test_a_report_is_about_the_words_of_its_time(house: House, way: str, by: str) -> None:
    said = {"content": INVOICES, "provenance": "user_stated"}
    person = house.reviewer.post("memories", said).json()["memory"]["id"]
    own = commit(house, "Invoices are paid within 60 days.")
    ids = {"memory_ids": [person, own], "note": ""}
    card = getattr(house, by).post("conflicts", ids).json()
    house.reviewer.post(f"conflicts/{card['id']}/comments", {"text": "Which one?"})
    own = reword(house, own, PARIS, way)
    detect(house)
    [closed] = cards(house)
    assert (closed["id"], closed["status"]) == (card["id"], "resolved")
    assert [comment["text"] for comment in closed["comments"]] == ["Which one?"]
    shown = house.reader.get(f"conflicts/{card['id']}").json()
    assert "says something else now" in str(shown)
    verdict = house.reviewer.post(f"conflicts/{card['id']}/resolve", {"verdict": "yes"})
    assert verdict.status_code == 409
    states = {house.reader.get(f"memories/{i}").json()["state"] for i in (person, own)}
    assert states == {"active"}
    # Whoever says it of the new words is heard.
    again = house.agent.post("conflicts", {"memory_ids": [person, own], "note": ""})
    assert (again.status_code, again.json()["outcome"]) == (201, "opened")


@pytest.mark.parametrize("way", WAYS)
def test_what_an_agent_said_leaves_with_the_words_it_was_about(house: House, way: str) -> None:
    (low, high, third), card = disagree(house, 1000, 5000, 7000)
    told = {"other": low, "relation": "contradicts", "reason": "zyzzyva says 7000"}
    assert house.agent.post(f"memories/{third}/relations", told).json()["outcome"] == "joined"
    reword(house, third, PARIS, way)
    detect(house)
    [again] = cards(house)
    assert (again["id"], again["status"], live(again)) == (card["id"], "open", [low, high])
    shown = house.reader.get(f"conflicts/{card['id']}").json()
    assert (shown["detected_by"], "zyzzyva" in str(shown)) == (["rules"], False)
    assert "Paris" not in str([shown["question"], shown["consequences"]])


@pytest.mark.parametrize(("leaves", "status"), [(0, "open"), (1, "open"), (2, "resolved")])
def test_a_report_of_three_goes_on_while_both_sides_are_left(
    house: House, leaves: int, status: str
) -> None:
    texts = (
        "Guests of the Gasthof park behind the barn as ever.",
        "The lot behind the barn is where cars go.",
        "Visitors leave their vehicles at the station by now.",
    )
    ids = [commit(house, text) for text in texts]
    card = house.reviewer.post("conflicts", {"memory_ids": ids, "note": ""}).json()
    reword(house, ids[leaves], PARIS, "patch")
    detect(house)
    [again] = cards(house)
    assert (again["id"], again["status"]) == (card["id"], status)
    if status == "open":
        assert live(again) == [i for i in ids if i != ids[leaves]]
        assert "Paris" not in again["question"]


def test_a_judgement_counts_for_the_words_that_it_was_made_about(house: House) -> None:
    one, other = commit(house, INVOICES), commit(house, "Invoices are paid within 60 days.")
    told = {"other": one, "relation": "contradicts", "reason": "Other terms."}
    house.agent.post(f"memories/{other}/relations", told)

    def count() -> int:
        with in_workspace(house.workspace):
            return against(*Memory.objects.filter(pk__in=[one, other]).order_by("pk")).count()

    assert count() == 1
    reword(house, other, PARIS, "patch")
    assert count() == 0
    house.agent.post(f"memories/{other}/relations", told)  # said again, of the new words
    assert count() == 1


def test_forgetting_what_was_replaced_leaves_the_pair_to_its_successor(house: House) -> None:
    (low, high), card = disagree(house, 1000, 5000)
    new = reword(house, high, OTHERWISE.format(5000), "supersedes")
    detect(house)
    forgot = house.reviewer.post("memories/forget", {"ids": [high], "confirm": True})
    assert forgot.json()["forgotten"] == 1
    [again] = cards(house)
    assert (again["id"], again["status"], live(again)) == (card["id"], "open", [low, new])
    assert high not in [memory["id"] for memory in again["memories"]]
    with in_workspace(house.workspace):
        assert ConflictPair.objects.count() == 1


def test_a_successor_is_disputed_at_once(house: House) -> None:
    (low, high), card = disagree(house, 1000, 5000)
    new = reword(house, high, OTHERWISE.format(5000), "supersedes")
    found = house.reader.post("memories/recall", {"query": "API rate limit", "k": 5}).json()
    disputed = {row["memory"]["id"]: row["memory"].get("disputed", row.get("disputed"))
                for row in found["results"]}  # fmt: skip
    assert disputed == {low: True, new: True}
    assert [c["id"] for c in cards(house, "open")] == [card["id"]]


def test_what_changes_again_before_it_is_read_is_read_in_its_last_words(house: House) -> None:
    (low, high), card = disagree(house, 1000, 5000)
    reword(house, high, "The canteen opens at noon.", "patch")
    reword(house, high, OTHERWISE.format(5000), "patch")
    detect(house)
    [again] = cards(house)
    assert (again["id"], again["status"], live(again)) == (card["id"], "open", [low, high])


def test_rolling_a_successor_back_asks_about_the_former_version_again(house: House) -> None:
    (low, high), card = disagree(house, 1000, 5000)
    begin = timezone.now().isoformat()
    commit(house, OTHERWISE.format(5000), supersedes=high, agent="rogue")
    detect(house)
    body = {"agent": "rogue", "since": begin, "confirm": True}
    answer = house.admin.post("memories/rollback", body)
    assert answer.status_code == 200, answer.json()
    detect(house)
    [again] = cards(house, "open")
    assert (again["id"], live(again)) == (card["id"], [low, high])
    assert "5000" in again["question"]


def switch_detection_off(house: House) -> None:
    assert house.admin.patch("workspace/settings", {"detection_enabled": False}).status_code == 200
    house.workspace.refresh_from_db()
    house.workspace.__dict__.pop("config", None)


def absorb_into(house: House, memory: str, content: str) -> None:
    """Reword a memory by an accepted merge that keeps the wording of another one."""
    now = timezone.now()
    draft = Draft(content=content)
    [done] = commit_all(house.workspace, [draft], actor=SYSTEM, now=now, is_gated=False)
    assert done.memory is not None
    with in_workspace(house.workspace):
        asked = suggest(
            Memory.objects.get(pk=memory), done.memory,
            relation="same", detected_by="agent", actor=SYSTEM, now=now,
        )  # fmt: skip
    assert asked is not None
    path = f"merge-suggestions/{asked.id}/accept"
    answer = house.reviewer.post(path, {"keep": str(done.memory.id)})
    assert answer.status_code == 200, answer.json()


REWORDINGS = {
    "patch": lambda house, memory, content: reword(house, memory, content, "patch"),
    "supersedes": lambda house, memory, content: reword(house, memory, content, "supersedes"),
    "merge": absorb_into,
}


@pytest.mark.parametrize("way", REWORDINGS)
def test_a_card_asks_about_the_new_words_though_detection_is_off(house: House, way: str) -> None:
    (low, high), card = disagree(house, 1000, 5000)
    switch_detection_off(house)
    text = OTHERWISE.format(5000)
    new = REWORDINGS[way](house, high, text) or high
    with in_workspace(house.workspace):
        assert not DetectionDue.objects.exists()
    [again] = cards(house, "open")
    assert (again["id"], live(again), again["yes_keeps"]) == (card["id"], [low, new], [new])
    assert text[:-1] in again["question"]
    assert LIMIT.format(5000)[:-1] not in again["question"]
    assert again["version"] > card["version"]
    stale = {"verdict": "no", "version": card["version"]}
    path = f"conflicts/{card['id']}/resolve"
    assert house.reviewer.post(path, stale).json()["type"] == "/problems/stale-version"
    assert house.reviewer.post(path, {"verdict": "no"}).status_code == 200
    assert house.reader.get(f"memories/{new}").json()["state"] == "retired"


def test_a_split_with_detection_off_asks_about_the_words_that_are_back(house: House) -> None:
    (low, high), card = disagree(house, 1000, 5000)
    text = OTHERWISE.format(5000)
    switch_detection_off(house)
    absorb_into(house, high, text)
    with in_workspace(house.workspace):
        merged = str(Merge.objects.get(memory=high).observation_id)
    split = house.reviewer.post(f"memories/{high}/split", {"observation_id": merged})
    assert split.status_code == 200, split.json()
    [again] = cards(house, "open")
    assert (again["id"], live(again)) == (card["id"], [low, high])
    assert LIMIT.format(5000)[:-1] in again["question"]
    assert text[:-1] not in again["question"]


def test_a_rollback_that_rewords_a_member_asks_about_the_words_that_are_back(house: House) -> None:
    plain, finer = "The deploy runs on Thursday.", "The deploy runs on Thursday at 14:00 UTC."
    mine = commit(house, plain, agent="alice")
    since = timezone.now().isoformat()
    assert commit(house, finer, agent="mallory") == mine
    other = commit(house, "The deploy runs on Friday.", agent="bob")
    card = house.agent.post("conflicts", {"memory_ids": [mine, other], "note": ""}).json()
    assert finer[:-1] in card["question"]
    detect(house)
    sent = {"since": since, "agent": "mallory", "confirm": True}
    assert house.admin.post("memories/rollback", sent).json()["reworded"] == 1
    [again] = cards(house, "open")
    assert (again["id"], live(again)) == (card["id"], [mine, other])
    assert (plain[:-1] in again["question"], finer[:-1] in again["question"]) == (True, False)
    with in_workspace(house.workspace):
        assert [str(due.memory_id) for due in DetectionDue.objects.all()] == [mine]
