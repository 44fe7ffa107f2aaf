"""A card stays the same card while its members are put in other words, by PATCH or `supersedes`."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from conflicts.models import ConflictMember, ConflictPair, DetectionDue
from conflicts.services.reports.judgements import contradictions
from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Merge
from memories.services.commit.commit import commit_all
from memories.services.commit.draft import Draft
from memories.services.gate.suggestions import suggest
from tests.conflicts.test_identity_of_cards import LIMIT, cards, detect
from tests.conftest import Tenant

OTHERWISE = "Requests to the API are limited to {} per second."
WAYS = ["patch", "supersedes"]


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    return str(answer.json()["memory"]["id"])


def live(card: dict[str, Any]) -> list[str]:
    return [memory["id"] for memory in card["memories"] if memory["state"] == "active"]


def disagree(tenant: Tenant, *values: int) -> tuple[list[str], dict[str, Any]]:
    ids = [
        commit(tenant, LIMIT.format(value), observed_at=f"2026-0{month}-05T09:00:00Z")
        for month, value in enumerate(values, start=1)
    ]
    detect(tenant)
    [card] = cards(tenant)
    return ids, card


def reword(tenant: Tenant, memory: str, content: str, way: str) -> str:
    """Put a memory in other words; return the id under which it lives now."""
    if way == "supersedes":
        return commit(tenant, content, supersedes=memory)
    answer = tenant.agent.patch(f"memories/{memory}", {"content": content})
    assert answer.status_code == 200, answer.json()
    return memory


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("side", [0, 1])
def test_other_words_of_one_side_stay_on_the_open_card(tenant: Tenant, way: str, side: int) -> None:
    ids, card = disagree(tenant, 1000, 5000)
    tenant.reviewer.post(f"conflicts/{card['id']}/comments", {"text": "Which one?"})
    text = OTHERWISE.format([1000, 5000][side])
    ids[side] = reword(tenant, ids[side], text, way)
    [asked] = cards(tenant)  # before anything is read
    assert (asked["id"], asked["status"], text[:-1] in asked["question"]) == (
        card["id"], "open", True,
    )  # fmt: skip
    detect(tenant)
    [again] = cards(tenant)
    assert (again["id"], again["status"], sorted(live(again))) == (card["id"], "open", sorted(ids))
    assert text[:-1] in again["question"]
    assert [comment["text"] for comment in again["comments"]] == ["Which one?"]
    with in_workspace(tenant.workspace):
        assert ConflictPair.objects.count() == 1
        assert not ConflictMember.objects.filter(is_reworded=True).exists()
    yes = tenant.reviewer.post(f"conflicts/{card['id']}/resolve", {"verdict": "yes"})
    assert yes.status_code == 200
    states = [tenant.reader.get(f"memories/{i}").json()["state"] for i in ids]
    assert sorted(states) == ["active", "superseded"]


@pytest.mark.parametrize("way", WAYS)
def test_a_value_that_moved_on_is_asked_about_on_the_open_card(tenant: Tenant, way: str) -> None:
    (low, high), card = disagree(tenant, 1000, 5000)
    high = reword(tenant, high, LIMIT.format(7000), way)
    detect(tenant)
    [again] = cards(tenant)
    assert (again["id"], again["status"], live(again)) == (card["id"], "open", [low, high])
    assert ("7000" in again["question"], "5000" in again["question"]) == (True, False)
    assert again["yes_keeps"] == [high]


@pytest.mark.parametrize("way", WAYS)
def test_a_card_closes_when_its_sides_agree_by_now(tenant: Tenant, way: str) -> None:
    (_, high), card = disagree(tenant, 1000, 5000)
    reword(tenant, high, OTHERWISE.format(1000), way)
    detect(tenant)
    assert [(c["id"], c["status"]) for c in cards(tenant)] == [(card["id"], "resolved")]


@pytest.mark.parametrize("way", WAYS)
def test_one_of_three_that_says_something_else_leaves_the_card(tenant: Tenant, way: str) -> None:
    (low, high, third), card = disagree(tenant, 1000, 5000, 800)
    reword(tenant, third, "The canteen opens at noon.", way)
    detect(tenant)
    [again] = cards(tenant)
    assert (again["id"], again["status"]) == (card["id"], "open")
    assert ([m["id"] for m in again["memories"]], live(again)) == ([low, high], [low, high])
    assert "canteen" not in again["question"]
    with in_workspace(tenant.workspace):
        assert ConflictPair.objects.count() == 1


@pytest.mark.parametrize("way", WAYS)
def test_what_somebody_reported_waits_on_in_other_words(tenant: Tenant, way: str) -> None:
    one = commit(tenant, "The retreat is held in Lisbon.")
    other = commit(tenant, "Requests to the API are limited to 50 per second.")
    card = tenant.agent.post("conflicts", {"memory_ids": [one, other], "note": ""}).json()
    other = reword(tenant, other, "The API rate limit is 50 requests per second.", way)
    detect(tenant)
    [again] = cards(tenant)
    assert (again["id"], again["status"], live(again)) == (card["id"], "open", [one, other])
    assert again["yes_keeps"] == [other]
    assert "The API rate limit is 50 requests per second" in again["question"]


INVOICES = "Invoices are paid within 30 days."
PARIS = "Paris is the capital of France."


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("by", ["agent", "reviewer"])
def test_a_report_is_about_the_words_of_its_time(tenant: Tenant, way: str, by: str) -> None:
    said = {"content": INVOICES, "provenance": "user_stated"}
    person = tenant.reviewer.post("memories", said).json()["memory"]["id"]
    own = commit(tenant, "Invoices are paid within 60 days.")
    ids = {"memory_ids": [person, own], "note": ""}
    card = getattr(tenant, by).post("conflicts", ids).json()
    tenant.reviewer.post(f"conflicts/{card['id']}/comments", {"text": "Which one?"})
    own = reword(tenant, own, PARIS, way)
    detect(tenant)
    [closed] = cards(tenant)
    assert (closed["id"], closed["status"]) == (card["id"], "resolved")
    assert [comment["text"] for comment in closed["comments"]] == ["Which one?"]
    shown = tenant.reader.get(f"conflicts/{card['id']}").json()
    assert "says something else now" in str(shown)
    verdict = tenant.reviewer.post(f"conflicts/{card['id']}/resolve", {"verdict": "yes"})
    assert verdict.status_code == 409
    states = {tenant.reader.get(f"memories/{i}").json()["state"] for i in (person, own)}
    assert states == {"active"}
    # Whoever says it of the new words is heard.
    again = tenant.agent.post("conflicts", {"memory_ids": [person, own], "note": ""})
    assert (again.status_code, again.json()["outcome"]) == (201, "opened")


@pytest.mark.parametrize("way", WAYS)
def test_what_an_agent_said_leaves_with_the_words_it_was_about(tenant: Tenant, way: str) -> None:
    (low, high, third), card = disagree(tenant, 1000, 5000, 7000)
    told = {"other": low, "relation": "contradicts", "reason": "zyzzyva says 7000"}
    assert tenant.agent.post(f"memories/{third}/relations", told).json()["outcome"] == "joined"
    reword(tenant, third, PARIS, way)
    detect(tenant)
    [again] = cards(tenant)
    assert (again["id"], again["status"], live(again)) == (card["id"], "open", [low, high])
    shown = tenant.reader.get(f"conflicts/{card['id']}").json()
    assert (shown["detected_by"], "zyzzyva" in str(shown)) == (["rules"], False)
    assert "Paris" not in str([shown["question"], shown["consequences"]])


@pytest.mark.parametrize(("leaves", "status"), [(0, "open"), (1, "open"), (2, "resolved")])
def test_a_report_of_three_goes_on_while_both_sides_are_left(
    tenant: Tenant, leaves: int, status: str
) -> None:
    texts = (
        "Guests of the Gasthof park behind the barn as ever.",
        "The lot behind the barn is where cars go.",
        "Visitors leave their vehicles at the station by now.",
    )
    ids = [commit(tenant, text) for text in texts]
    card = tenant.reviewer.post("conflicts", {"memory_ids": ids, "note": ""}).json()
    reword(tenant, ids[leaves], PARIS, "patch")
    detect(tenant)
    [again] = cards(tenant)
    assert (again["id"], again["status"]) == (card["id"], status)
    if status == "open":
        assert live(again) == [i for i in ids if i != ids[leaves]]
        assert "Paris" not in again["question"]


def test_a_judgement_counts_for_the_words_that_it_was_made_about(tenant: Tenant) -> None:
    one, other = commit(tenant, INVOICES), commit(tenant, "Invoices are paid within 60 days.")
    told = {"other": one, "relation": "contradicts", "reason": "Other terms."}
    tenant.agent.post(f"memories/{other}/relations", told)

    def count() -> int:
        with in_workspace(tenant.workspace):
            return contradictions(
                *Memory.objects.filter(pk__in=[one, other]).order_by("pk")
            ).count()

    assert count() == 1
    reword(tenant, other, PARIS, "patch")
    assert count() == 0
    tenant.agent.post(f"memories/{other}/relations", told)  # said again, of the new words
    assert count() == 1


def test_forgetting_what_was_replaced_leaves_the_pair_to_its_successor(tenant: Tenant) -> None:
    (low, high), card = disagree(tenant, 1000, 5000)
    new = reword(tenant, high, OTHERWISE.format(5000), "supersedes")
    detect(tenant)
    forgot = tenant.reviewer.post("memories/forget", {"ids": [high], "confirm": True})
    assert forgot.json()["forgotten"] == 1
    [again] = cards(tenant)
    assert (again["id"], again["status"], live(again)) == (card["id"], "open", [low, new])
    assert high not in [memory["id"] for memory in again["memories"]]
    with in_workspace(tenant.workspace):
        assert ConflictPair.objects.count() == 1


def test_a_successor_is_disputed_at_once(tenant: Tenant) -> None:
    (low, high), card = disagree(tenant, 1000, 5000)
    new = reword(tenant, high, OTHERWISE.format(5000), "supersedes")
    found = tenant.reader.post(
        "memories/recall", {"query": "API rate limit", "min_score": None}
    ).json()
    disputed = {row["memory"]["id"]: row["memory"].get("disputed", row.get("disputed"))
                for row in found["results"]}  # fmt: skip
    assert disputed == {low: True, new: True}
    assert [c["id"] for c in cards(tenant, "open")] == [card["id"]]


def test_what_changes_again_before_it_is_read_is_read_in_its_last_words(tenant: Tenant) -> None:
    (low, high), card = disagree(tenant, 1000, 5000)
    reword(tenant, high, "The canteen opens at noon.", "patch")
    reword(tenant, high, OTHERWISE.format(5000), "patch")
    detect(tenant)
    [again] = cards(tenant)
    assert (again["id"], again["status"], live(again)) == (card["id"], "open", [low, high])


def test_rolling_a_successor_back_asks_about_the_former_version_again(tenant: Tenant) -> None:
    (low, high), card = disagree(tenant, 1000, 5000)
    begin = timezone.now().isoformat()
    commit(tenant, OTHERWISE.format(5000), supersedes=high, agent="rogue")
    detect(tenant)
    body = {"agent": "rogue", "since": begin, "confirm": True}
    answer = tenant.admin.post("memories/rollback", body)
    assert answer.status_code == 200, answer.json()
    detect(tenant)
    [again] = cards(tenant, "open")
    assert (again["id"], live(again)) == (card["id"], [low, high])
    assert "5000" in again["question"]


def switch_detection_off(tenant: Tenant) -> None:
    assert tenant.admin.patch("workspace/settings", {"detection_enabled": False}).status_code == 200
    tenant.workspace.refresh_from_db()
    tenant.workspace.__dict__.pop("config", None)


def absorb_into(tenant: Tenant, memory: str, content: str) -> None:
    """Reword a memory by an accepted merge that keeps the wording of another one."""
    now = timezone.now()
    draft = Draft(content=content)
    [done] = commit_all(tenant.workspace, [draft], actor=SYSTEM, now=now, is_gated=False)
    assert done.memory is not None
    with in_workspace(tenant.workspace):
        asked = suggest(
            Memory.objects.get(pk=memory), done.memory,
            relation="same", detected_by="agent", actor=SYSTEM, now=now,
        )  # fmt: skip
    assert asked is not None
    path = f"merge-suggestions/{asked.id}/accept"
    answer = tenant.reviewer.post(path, {"keep": str(done.memory.id)})
    assert answer.status_code == 200, answer.json()


REWORDINGS = {
    "patch": lambda tenant, memory, content: reword(tenant, memory, content, "patch"),
    "supersedes": lambda tenant, memory, content: reword(tenant, memory, content, "supersedes"),
    "merge": absorb_into,
}


@pytest.mark.parametrize("way", REWORDINGS)
def test_a_card_asks_about_the_new_words_though_detection_is_off(tenant: Tenant, way: str) -> None:
    (low, high), card = disagree(tenant, 1000, 5000)
    switch_detection_off(tenant)
    text = OTHERWISE.format(5000)
    new = REWORDINGS[way](tenant, high, text) or high
    with in_workspace(tenant.workspace):
        assert not DetectionDue.objects.exists()
    [again] = cards(tenant, "open")
    assert (again["id"], live(again), again["yes_keeps"]) == (card["id"], [low, new], [new])
    assert text[:-1] in again["question"]
    assert LIMIT.format(5000)[:-1] not in again["question"]
    assert again["version"] > card["version"]
    stale = {"verdict": "no", "version": card["version"]}
    path = f"conflicts/{card['id']}/resolve"
    assert tenant.reviewer.post(path, stale).json()["type"] == "/problems/stale-version"
    assert tenant.reviewer.post(path, {"verdict": "no"}).status_code == 200
    assert tenant.reader.get(f"memories/{new}").json()["state"] == "retired"


def test_a_split_with_detection_off_asks_about_the_words_that_are_back(tenant: Tenant) -> None:
    (low, high), card = disagree(tenant, 1000, 5000)
    text = OTHERWISE.format(5000)
    switch_detection_off(tenant)
    absorb_into(tenant, high, text)
    with in_workspace(tenant.workspace):
        merged = str(Merge.objects.get(memory=high).observation_id)
    split = tenant.reviewer.post(f"memories/{high}/split", {"observation_id": merged})
    assert split.status_code == 200, split.json()
    [again] = cards(tenant, "open")
    assert (again["id"], live(again)) == (card["id"], [low, high])
    assert LIMIT.format(5000)[:-1] in again["question"]
    assert text[:-1] not in again["question"]


def test_a_rollback_that_rewords_a_member_asks_about_the_words_that_are_back(
    tenant: Tenant,
) -> None:
    plain, finer = "The deploy runs on Thursday.", "The deploy runs on Thursday at 14:00 UTC."
    mine = commit(tenant, plain, agent="alice")
    since = timezone.now().isoformat()
    assert commit(tenant, finer, agent="mallory") == mine
    other = commit(tenant, "The deploy runs on Friday.", agent="bob")
    card = tenant.agent.post("conflicts", {"memory_ids": [mine, other], "note": ""}).json()
    assert finer[:-1] in card["question"]
    detect(tenant)
    sent = {"since": since, "agent": "mallory", "confirm": True}
    assert tenant.admin.post("memories/rollback", sent).json()["reworded"] == 1
    [again] = cards(tenant, "open")
    assert (again["id"], live(again)) == (card["id"], [mine, other])
    assert (plain[:-1] in again["question"], finer[:-1] in again["question"]) == (True, False)
    with in_workspace(tenant.workspace):
        assert [str(due.memory_id) for due in DetectionDue.objects.all()] == [mine]
