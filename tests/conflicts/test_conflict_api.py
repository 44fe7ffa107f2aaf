"""From a contradiction to a decision and back, through the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from conflicts.models import DetectionDue, DetectionRun
from conflicts.services.detection.detect import detect_due
from engram.kernel.tenancy import in_workspace
from tests.conftest import House

LOW = "The API rate limit is 1000 requests per second."
HIGH = "The API rate limit is 5000 requests per second."


def commit(house: House, content: str, **fields: Any) -> dict[str, Any]:
    answer = house.agent.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


def detect(house: House) -> list[DetectionRun]:
    return detect_due(house.workspace, clock=timezone.now)


def disagree(house: House) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Commit two contradicting memories and return them with their card."""
    low = commit(house, LOW, scope="auth", observed_at="2026-01-10T09:00:00Z")
    high = commit(house, HIGH, scope="auth", observed_at="2026-03-02T09:00:00Z")
    detect(house)
    cards = house.reader.get("conflicts").json()["results"]
    assert len(cards) == 1
    return low, high, cards[0]


def state(house: House, memory: dict[str, Any]) -> str:
    return str(house.reader.get(f"memories/{memory['id']}").json()["state"])


def resolve(house: House, card: dict[str, Any], **body: Any) -> Any:
    return house.reviewer.post(f"conflicts/{card['id']}/resolve", body)


def test_contradiction_becomes_one_card_with_a_question(house: House) -> None:
    low, high, card = disagree(house)
    assert [m["id"] for m in card["memories"]] == [low["id"], high["id"]]
    assert [m["position"] for m in card["memories"]] == [0, 1]
    assert card["status"] == "open"
    assert card["detected_by"] == ["rules"]
    assert card["question"].endswith("?")
    assert card["yes_keeps"] != []
    assert card["resolution"] is None


def test_reading_again_adds_nothing(house: House) -> None:
    disagree(house)
    house.reviewer.post("conflicts/detect", {})
    runs = detect(house)
    assert [(r.status, r.opened) for r in runs] == [("done", 0)]
    assert len(house.reader.get("conflicts").json()["results"]) == 1


def test_third_value_joins_the_same_card(house: House) -> None:
    disagree(house)
    commit(
        house, "The API rate limit is 800 requests per second.", scope="auth",
        observed_at="2026-04-02T09:00:00Z",
    )  # fmt: skip
    detect(house)
    cards = house.reader.get("conflicts").json()["results"]
    assert [len(c["memories"]) for c in cards] == [3]
    assert cards[0]["version"] > 1


def test_disputed_memories_are_marked(house: House) -> None:
    low, _, card = disagree(house)
    shown = house.reader.get(f"memories/{low['id']}").json()
    assert (shown["disputed"], shown["conflicts"]) == (True, [card["id"]])


def test_yes_supersedes_the_others_by_the_newest_survivor(house: House) -> None:
    low, high, card = disagree(house)
    keeps_high = card["yes_keeps"] == [high["id"]]
    winner, loser = (high, low) if keeps_high else (low, high)
    answer = resolve(house, card, verdict="yes", version=card["version"], note="checked")
    assert answer.status_code == 200
    body = answer.json()
    assert body["status"] == "resolved"
    assert body["resolution"]["verdict"] == "yes"
    assert body["resolution"]["kept"] == [winner["id"]]
    assert body["resolution"]["note"] == "checked"
    hidden = house.reader.get(f"memories/{loser['id']}").json()
    assert (hidden["state"], hidden["superseded_by"]) == ("superseded", winner["id"])
    assert state(house, winner) == "active"


def test_no_retires_what_the_question_names(house: House) -> None:
    low, high, card = disagree(house)
    named = card["yes_keeps"]
    resolve(house, card, verdict="no")
    states = {m["id"]: state(house, m) for m in (low, high)}
    assert [states[i] for i in named] == ["retired"] * len(named)
    assert sorted(states.values()) == ["active", "retired"]


def test_no_asks_for_survivors_when_several_values_would_remain(house: House) -> None:
    disagree(house)
    commit(
        house, "The API rate limit is 800 requests per second.", scope="auth",
        observed_at="2026-04-02T09:00:00Z",
    )  # fmt: skip
    detect(house)
    card = house.reader.get("conflicts").json()["results"][0]
    refused = resolve(house, card, verdict="no")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "keep"
    rest = [m["id"] for m in card["memories"] if m["id"] not in card["yes_keeps"]]
    decided = resolve(house, card, verdict="no", keep=rest[:1])
    assert decided.status_code == 200
    states = {m["id"]: m["state"] for m in decided.json()["memories"]}
    assert states[rest[0]] == "active"
    assert states[rest[1]] == "superseded"


def test_keep_supersedes_the_others(house: House) -> None:
    low, high, card = disagree(house)
    resolve(house, card, verdict="keep", keep=[low["id"]])
    assert (state(house, low), state(house, high)) == ("active", "superseded")


@pytest.mark.parametrize("verdict", ["both_valid", "dismiss"])
def test_verdicts_that_change_no_memory_are_remembered(house: House, verdict: str) -> None:
    low, high, card = disagree(house)
    decided = resolve(house, card, verdict=verdict).json()
    assert decided["status"] == ("dismissed" if verdict == "dismiss" else "resolved")
    assert (state(house, low), state(house, high)) == ("active", "active")
    house.reviewer.post("conflicts/detect", {})
    detect(house)
    assert len(house.reader.get("conflicts").json()["results"]) == 1


def test_none_valid_retires_all_and_the_answer_takes_their_place(house: House) -> None:
    low, high, card = disagree(house)
    decided = resolve(
        house, card, verdict="none_valid",
        answer="The API rate limit is 2000 requests per second.",
    ).json()  # fmt: skip
    answer_id = decided["resolution"]["answer_memory"]
    answer = house.reader.get(f"memories/{answer_id}").json()
    assert (answer["provenance"], answer["scope"], answer["state"]) == (
        "user_stated", "auth", "active",
    )  # fmt: skip
    for memory in (low, high):
        hidden = house.reader.get(f"memories/{memory['id']}").json()
        assert (hidden["state"], hidden["superseded_by"]) == ("retired", answer_id)


def test_undo_returns_everything_and_reopens(house: House) -> None:
    low, high, card = disagree(house)
    before = [house.reader.get(f"memories/{m['id']}").json() for m in (low, high)]
    decided = resolve(
        house, card, verdict="none_valid",
        answer="The API rate limit is 2000 requests per second.",
    ).json()  # fmt: skip
    undone = house.reviewer.post(f"conflicts/{card['id']}/undo")
    assert undone.status_code == 200
    assert (undone.json()["status"], undone.json()["resolution"]) == ("open", None)
    after = [house.reader.get(f"memories/{m['id']}").json() for m in (low, high)]
    for one, other in zip(before, after, strict=True):
        assert {k: v for k, v in one.items() if k != "updated_at"} == {
            k: v for k, v in other.items() if k != "updated_at"
        }
    answer_id = decided["resolution"]["answer_memory"]
    assert house.reader.get(f"memories/{answer_id}").json()["state"] == "retired"


def test_undo_names_members_that_changed_since(house: House) -> None:
    low, high, card = disagree(house)
    resolve(house, card, verdict="keep", keep=[low["id"]])
    house.reviewer.patch(f"memories/{low['id']}", {"content": "The API rate limit is 900 rps."})
    refused = house.reviewer.post(f"conflicts/{card['id']}/undo")
    assert refused.status_code == 409
    assert [e["message"] for e in refused.json()["errors"]] == [low["id"]]
    assert state(house, high) == "superseded"


def test_stale_version_is_refused(house: House) -> None:
    _, _, card = disagree(house)
    commit(
        house, "The API rate limit is 800 requests per second.", scope="auth",
        observed_at="2026-04-02T09:00:00Z",
    )  # fmt: skip
    detect(house)
    refused = resolve(house, card, verdict="dismiss", version=card["version"])
    assert refused.status_code == 409


def test_resolving_twice_is_refused(house: House) -> None:
    _, _, card = disagree(house)
    assert resolve(house, card, verdict="dismiss").status_code == 200
    assert resolve(house, card, verdict="dismiss").status_code == 409


def test_undo_without_a_decision_is_refused(house: House) -> None:
    _, _, card = disagree(house)
    assert house.reviewer.post(f"conflicts/{card['id']}/undo").status_code == 409


def test_forgetting_a_member_closes_the_card_and_hides_its_words(house: House) -> None:
    low, _, card = disagree(house)
    house.agent.post("memories/forget", {"ids": [low["id"]], "confirm": True})
    shown = house.reader.get(f"conflicts/{card['id']}").json()
    assert shown["status"] == "resolved"
    assert shown["resolution"]["verdict"] is None
    assert "1000" not in str(shown)


def test_forgotten_then_restored_memory_is_asked_about_again(house: House) -> None:
    low, _, _ = disagree(house)
    house.agent.post("memories/forget", {"ids": [low["id"]], "confirm": True})
    house.agent.post("memories/restore", {"ids": [low["id"]]})
    detect(house)
    waiting = house.reader.get("conflicts", {"status": "open"}).json()["results"]
    assert len(waiting) == 1


def test_decided_pair_is_asked_again_when_a_claim_changes(house: House) -> None:
    low, _, card = disagree(house)
    resolve(house, card, verdict="both_valid")
    reworded = {"content": "The API rate limit is 700 requests per second."}
    assert house.agent.patch(f"memories/{low['id']}", reworded).status_code == 202
    assert house.reviewer.patch(f"memories/{low['id']}", reworded).status_code == 200
    detect(house)
    waiting = house.reader.get("conflicts", {"status": "open"}).json()["results"]
    assert [(c["reopened_from"], c["decided_before"]) for c in waiting] == [(card["id"], None)]


def test_repeating_a_rejected_value_opens_a_linked_card(house: House) -> None:
    _, high, card = disagree(house)
    resolve(house, card, verdict="keep", keep=[high["id"]])
    commit(house, LOW, scope="auth", agent="another", observed_at="2026-05-01T00:00:00Z")
    detect(house)
    waiting = house.reader.get("conflicts", {"status": "open"}).json()["results"]
    assert [(c["reopened_from"], c["decided_before"]) for c in waiting] == [(None, card["id"])]


def test_reporting_by_hand_joins_the_open_card(house: House) -> None:
    low, high, card = disagree(house)
    answer = house.agent.post("conflicts", {"memory_ids": [high["id"], low["id"]]})
    assert answer.status_code == 201
    assert answer.json()["id"] == card["id"]
    assert answer.json()["detected_by"] == ["rules", "agent"]


def test_reporting_by_hand_opens_a_card_that_rules_did_not_see(house: House) -> None:
    one = commit(house, "Guests park behind the barn.")
    other = commit(house, "The yard in front is where visitors leave their cars.")
    answer = house.agent.post(
        "conflicts", {"memory_ids": [one["id"], other["id"]], "note": "Which is it?"}
    )
    assert answer.status_code == 201
    assert answer.json()["reasoning"] == "Which is it?"


def test_snoozed_card_leaves_the_queue_until_its_time(house: House) -> None:
    _, _, card = disagree(house)
    past = house.reviewer.post(f"conflicts/{card['id']}/snooze", {"until": "2020-01-01T00:00:00Z"})
    assert past.status_code == 422
    snoozed = house.reviewer.post(
        f"conflicts/{card['id']}/snooze", {"until": "2199-01-01T00:00:00Z"}
    )
    assert snoozed.json()["status"] == "snoozed"
    assert house.reader.get("conflicts", {"status": "open"}).json()["results"] == []


def test_due_rows_are_gone_after_a_run(house: House) -> None:
    disagree(house)
    with in_workspace(house.workspace):
        assert DetectionDue.objects.count() == 0
    runs = house.reader.get("detections").json()["results"]
    assert [r["status"] for r in runs] == ["done"]
    assert runs[0]["facts_considered"] == 2


def test_a_run_counts_the_new_memories_that_it_left_unread(house: House) -> None:
    table = "The limits are " + "30, " * 1900
    commit(house, table + "and 10 for the API.", scope="auth")
    commit(house, table + "and 20 for the API.", scope="auth")
    disagree(house)
    (run,) = house.reader.get("detections").json()["results"]
    assert (run["trigger_count"], run["left_unread"]) == (4, 2)
    commit(house, "The API is served by nginx.", scope="auth")
    detect(house)
    newest, _ = house.reader.get("detections").json()["results"]
    assert (newest["facts_considered"], newest["left_unread"]) == (5, 0)


def test_stating_a_known_value_again_after_another_is_a_reversal(house: House) -> None:
    first = commit(house, "EIP-3 has status Draft", observed_at="2026-01-01T00:00:00Z")
    second = commit(house, "EIP-3 has status Review", observed_at="2026-02-01T00:00:00Z")
    detect(house)
    assert house.reader.get("conflicts", {"status": "open"}).json()["results"] == []
    again = house.agent.post(
        "memories", {"content": "EIP-3 has status Draft", "observed_at": "2026-03-01T00:00:00Z"}
    ).json()
    assert (again["outcome"], again["memory"]["id"]) == ("duplicate", first["id"])
    detect(house)
    cards = house.reader.get("conflicts").json()["results"]
    assert [(c["kind"], [m["id"] for m in c["memories"]]) for c in cards] == [
        ("reversal", [first["id"], second["id"]])
    ]
    assert cards[0]["yes_keeps"] == [first["id"]]
