"""From a contradiction to a decision and back, through the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from conflicts.models import DetectionDue, DetectionRun
from conflicts.services.detection.detect import detect_due
from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant
from tests.shown import shows_number

LOW = "The API rate limit is 1000 requests per second."
HIGH = "The API rate limit is 5000 requests per second."


def commit(tenant: Tenant, content: str, **fields: Any) -> dict[str, Any]:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


def detect(tenant: Tenant) -> list[DetectionRun]:
    return detect_due(tenant.workspace, clock=timezone.now)


def disagree(tenant: Tenant) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Commit two contradicting memories and return them with their card."""
    low = commit(tenant, LOW, scope="auth", observed_at="2026-01-10T09:00:00Z")
    high = commit(tenant, HIGH, scope="auth", observed_at="2026-03-02T09:00:00Z")
    detect(tenant)
    cards = tenant.reader.get("conflicts").json()["results"]
    assert len(cards) == 1
    return low, high, cards[0]


def state(tenant: Tenant, memory: dict[str, Any]) -> str:
    return str(tenant.reader.get(f"memories/{memory['id']}").json()["state"])


def resolve(tenant: Tenant, card: dict[str, Any], **body: Any) -> Any:
    return tenant.reviewer.post(f"conflicts/{card['id']}/resolve", body)


def test_contradiction_becomes_one_card_with_a_question(tenant: Tenant) -> None:
    low, high, card = disagree(tenant)
    assert [m["id"] for m in card["memories"]] == [low["id"], high["id"]]
    assert [m["position"] for m in card["memories"]] == [0, 1]
    assert card["status"] == "open"
    assert card["detected_by"] == ["rules"]
    assert card["question"].endswith("?")
    assert card["yes_keeps"] != []
    assert card["resolution"] is None


def test_reading_again_adds_nothing(tenant: Tenant) -> None:
    disagree(tenant)
    tenant.reviewer.post("conflicts/detect", {})
    runs = detect(tenant)
    assert [(r.status, r.opened) for r in runs] == [("done", 0)]
    assert len(tenant.reader.get("conflicts").json()["results"]) == 1


def test_third_value_joins_the_same_card(tenant: Tenant) -> None:
    disagree(tenant)
    commit(
        tenant, "The API rate limit is 800 requests per second.", scope="auth",
        observed_at="2026-04-02T09:00:00Z",
    )  # fmt: skip
    detect(tenant)
    cards = tenant.reader.get("conflicts").json()["results"]
    assert [len(c["memories"]) for c in cards] == [3]
    assert cards[0]["version"] > 1


def test_disputed_memories_are_marked(tenant: Tenant) -> None:
    low, _, card = disagree(tenant)
    shown = tenant.reader.get(f"memories/{low['id']}").json()
    assert (shown["disputed"], shown["conflicts"]) == (True, [card["id"]])


def test_yes_supersedes_the_others_by_the_newest_survivor(tenant: Tenant) -> None:
    low, high, card = disagree(tenant)
    keeps_high = card["yes_keeps"] == [high["id"]]
    winner, loser = (high, low) if keeps_high else (low, high)
    answer = resolve(tenant, card, verdict="yes", version=card["version"], note="checked")
    assert answer.status_code == 200
    body = answer.json()
    assert body["status"] == "resolved"
    assert body["resolution"]["verdict"] == "yes"
    assert body["resolution"]["kept"] == [winner["id"]]
    assert body["resolution"]["note"] == "checked"
    hidden = tenant.reader.get(f"memories/{loser['id']}").json()
    assert (hidden["state"], hidden["superseded_by"]) == ("superseded", winner["id"])
    assert state(tenant, winner) == "active"


def test_no_retires_what_the_question_names(tenant: Tenant) -> None:
    low, high, card = disagree(tenant)
    named = card["yes_keeps"]
    resolve(tenant, card, verdict="no")
    states = {m["id"]: state(tenant, m) for m in (low, high)}
    assert [states[i] for i in named] == ["retired"] * len(named)
    assert sorted(states.values()) == ["active", "retired"]


def test_no_asks_for_survivors_when_several_values_would_remain(tenant: Tenant) -> None:
    disagree(tenant)
    commit(
        tenant, "The API rate limit is 800 requests per second.", scope="auth",
        observed_at="2026-04-02T09:00:00Z",
    )  # fmt: skip
    detect(tenant)
    card = tenant.reader.get("conflicts").json()["results"][0]
    refused = resolve(tenant, card, verdict="no")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "keep"
    rest = [m["id"] for m in card["memories"] if m["id"] not in card["yes_keeps"]]
    decided = resolve(tenant, card, verdict="no", keep=rest[:1])
    assert decided.status_code == 200
    states = {m["id"]: m["state"] for m in decided.json()["memories"]}
    assert states[rest[0]] == "active"
    assert states[rest[1]] == "superseded"


def test_keep_supersedes_the_others(tenant: Tenant) -> None:
    low, high, card = disagree(tenant)
    resolve(tenant, card, verdict="keep", keep=[low["id"]])
    assert (state(tenant, low), state(tenant, high)) == ("active", "superseded")


@pytest.mark.parametrize("verdict", ["both_valid", "dismiss"])
def test_verdicts_that_change_no_memory_are_remembered(tenant: Tenant, verdict: str) -> None:
    low, high, card = disagree(tenant)
    decided = resolve(tenant, card, verdict=verdict).json()
    assert decided["status"] == ("dismissed" if verdict == "dismiss" else "resolved")
    assert (state(tenant, low), state(tenant, high)) == ("active", "active")
    tenant.reviewer.post("conflicts/detect", {})
    detect(tenant)
    assert len(tenant.reader.get("conflicts").json()["results"]) == 1


def test_none_valid_retires_all_and_the_answer_takes_their_place(tenant: Tenant) -> None:
    low, high, card = disagree(tenant)
    decided = resolve(
        tenant, card, verdict="none_valid",
        answer="The API rate limit is 2000 requests per second.",
    ).json()  # fmt: skip
    answer_id = decided["resolution"]["answer_memory"]
    answer = tenant.reader.get(f"memories/{answer_id}").json()
    assert (answer["provenance"], answer["scope"], answer["state"]) == (
        "user_stated", "auth", "active",
    )  # fmt: skip
    for memory in (low, high):
        hidden = tenant.reader.get(f"memories/{memory['id']}").json()
        assert (hidden["state"], hidden["superseded_by"]) == ("retired", answer_id)


def test_undo_returns_everything_and_reopens(tenant: Tenant) -> None:
    low, high, card = disagree(tenant)
    before = [tenant.reader.get(f"memories/{m['id']}").json() for m in (low, high)]
    decided = resolve(
        tenant, card, verdict="none_valid",
        answer="The API rate limit is 2000 requests per second.",
    ).json()  # fmt: skip
    undone = tenant.reviewer.post(f"conflicts/{card['id']}/undo")
    assert undone.status_code == 200
    assert (undone.json()["status"], undone.json()["resolution"]) == ("open", None)
    after = [tenant.reader.get(f"memories/{m['id']}").json() for m in (low, high)]
    for one, other in zip(before, after, strict=True):
        assert {k: v for k, v in one.items() if k != "updated_at"} == {
            k: v for k, v in other.items() if k != "updated_at"
        }
    answer_id = decided["resolution"]["answer_memory"]
    assert tenant.reader.get(f"memories/{answer_id}").json()["state"] == "retired"


def test_undo_names_members_that_changed_since(tenant: Tenant) -> None:
    low, high, card = disagree(tenant)
    resolve(tenant, card, verdict="keep", keep=[low["id"]])
    tenant.reviewer.patch(f"memories/{low['id']}", {"content": "The API rate limit is 900 rps."})
    refused = tenant.reviewer.post(f"conflicts/{card['id']}/undo")
    assert refused.status_code == 409
    assert [e["message"] for e in refused.json()["errors"]] == [low["id"]]
    assert state(tenant, high) == "superseded"


def test_stale_version_is_refused(tenant: Tenant) -> None:
    _, _, card = disagree(tenant)
    commit(
        tenant, "The API rate limit is 800 requests per second.", scope="auth",
        observed_at="2026-04-02T09:00:00Z",
    )  # fmt: skip
    detect(tenant)
    refused = resolve(tenant, card, verdict="dismiss", version=card["version"])
    assert refused.status_code == 409


def test_resolving_twice_is_refused(tenant: Tenant) -> None:
    _, _, card = disagree(tenant)
    assert resolve(tenant, card, verdict="dismiss").status_code == 200
    assert resolve(tenant, card, verdict="dismiss").status_code == 409


def test_undo_without_a_decision_is_refused(tenant: Tenant) -> None:
    _, _, card = disagree(tenant)
    assert tenant.reviewer.post(f"conflicts/{card['id']}/undo").status_code == 409


def test_forgetting_a_member_closes_the_card_and_hides_its_words(tenant: Tenant) -> None:
    low, _, card = disagree(tenant)
    tenant.agent.post("memories/forget", {"ids": [low["id"]], "confirm": True})
    shown = tenant.reader.get(f"conflicts/{card['id']}").json()
    assert shown["status"] == "resolved"
    assert shown["resolution"]["verdict"] is None
    assert not shows_number(str(shown), "1000")


def test_forgotten_then_restored_memory_is_asked_about_again(tenant: Tenant) -> None:
    low, _, _ = disagree(tenant)
    tenant.agent.post("memories/forget", {"ids": [low["id"]], "confirm": True})
    tenant.agent.post("memories/restore", {"ids": [low["id"]]})
    detect(tenant)
    waiting = tenant.reader.get("conflicts", {"status": "open"}).json()["results"]
    assert len(waiting) == 1


def test_decided_pair_is_asked_again_when_a_claim_changes(tenant: Tenant) -> None:
    low, _, card = disagree(tenant)
    resolve(tenant, card, verdict="both_valid")
    reworded = {"content": "The API rate limit is 700 requests per second."}
    assert tenant.agent.patch(f"memories/{low['id']}", reworded).status_code == 202
    assert tenant.reviewer.patch(f"memories/{low['id']}", reworded).status_code == 200
    detect(tenant)
    waiting = tenant.reader.get("conflicts", {"status": "open"}).json()["results"]
    assert [(c["reopened_from"], c["decided_before"]) for c in waiting] == [(card["id"], None)]


def test_repeating_a_rejected_value_opens_a_linked_card(tenant: Tenant) -> None:
    _, high, card = disagree(tenant)
    resolve(tenant, card, verdict="keep", keep=[high["id"]])
    commit(tenant, LOW, scope="auth", agent="another", observed_at="2026-05-01T00:00:00Z")
    detect(tenant)
    waiting = tenant.reader.get("conflicts", {"status": "open"}).json()["results"]
    assert [(c["reopened_from"], c["decided_before"]) for c in waiting] == [(None, card["id"])]


def test_reporting_by_hand_joins_the_open_card(tenant: Tenant) -> None:
    low, high, card = disagree(tenant)
    answer = tenant.agent.post("conflicts", {"memory_ids": [high["id"], low["id"]]})
    assert answer.status_code == 201
    assert answer.json()["id"] == card["id"]
    assert answer.json()["detected_by"] == ["rules", "agent"]


def test_reporting_by_hand_opens_a_card_that_rules_did_not_see(tenant: Tenant) -> None:
    one = commit(tenant, "Guests park behind the barn.")
    other = commit(tenant, "The yard in front is where visitors leave their cars.")
    answer = tenant.agent.post(
        "conflicts", {"memory_ids": [one["id"], other["id"]], "note": "Which is it?"}
    )
    assert answer.status_code == 201
    assert answer.json()["reasoning"] == "Which is it?"


def test_snoozed_card_leaves_the_queue_until_its_time(tenant: Tenant) -> None:
    _, _, card = disagree(tenant)
    past = tenant.reviewer.post(f"conflicts/{card['id']}/snooze", {"until": "2020-01-01T00:00:00Z"})
    assert past.status_code == 422
    snoozed = tenant.reviewer.post(
        f"conflicts/{card['id']}/snooze", {"until": "2199-01-01T00:00:00Z"}
    )
    assert snoozed.json()["status"] == "snoozed"
    assert tenant.reader.get("conflicts", {"status": "open"}).json()["results"] == []


def test_due_rows_are_gone_after_a_run(tenant: Tenant) -> None:
    disagree(tenant)
    with in_workspace(tenant.workspace):
        assert DetectionDue.objects.count() == 0
    runs = tenant.reader.get("detections").json()["results"]
    assert [r["status"] for r in runs] == ["done"]
    assert runs[0]["facts_considered"] == 2


def test_a_run_counts_the_new_memories_that_it_left_unread(tenant: Tenant) -> None:
    table = "The limits are " + "30, " * 1900
    commit(tenant, table + "and 10 for the API.", scope="auth")
    commit(tenant, table + "and 20 for the API.", scope="auth")
    disagree(tenant)
    (run,) = tenant.reader.get("detections").json()["results"]
    assert (run["trigger_count"], run["left_unread"]) == (4, 2)
    commit(tenant, "The API is served by nginx.", scope="auth")
    detect(tenant)
    newest, _ = tenant.reader.get("detections").json()["results"]
    assert (newest["facts_considered"], newest["left_unread"]) == (5, 0)


def test_stating_a_known_value_again_after_another_is_a_reversal(tenant: Tenant) -> None:
    first = commit(tenant, "EIP-3 has status Draft", observed_at="2026-01-01T00:00:00Z")
    second = commit(tenant, "EIP-3 has status Review", observed_at="2026-02-01T00:00:00Z")
    detect(tenant)
    assert tenant.reader.get("conflicts", {"status": "open"}).json()["results"] == []
    again = tenant.agent.post(
        "memories", {"content": "EIP-3 has status Draft", "observed_at": "2026-03-01T00:00:00Z"}
    ).json()
    assert (again["outcome"], again["memory"]["id"]) == ("duplicate", first["id"])
    detect(tenant)
    cards = tenant.reader.get("conflicts").json()["results"]
    assert [(c["kind"], [m["id"] for m in c["memories"]]) for c in cards] == [
        ("reversal", [first["id"], second["id"]])
    ]
    assert cards[0]["yes_keeps"] == [first["id"]]
