"""`replaces`: a supersession where the writer may, else a review; neither a card nor a merge."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conflicts.models import Judgement
from conflicts.services.detection.detect import detect_due
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from tests.conftest import Caller, Tenant, issue_agent

OLD = "The API rate limit is 1000 requests per second."
NEW = "The API rate limit is 5000 requests per second."
JANUARY, MARCH, MAY = (f"2026-0{month}-10T09:00:00Z" for month in (1, 3, 5))


def commit(caller: Caller, content: str, **fields: Any) -> str:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.json()
    return str(answer.json()["memory"]["id"])


def commit_pair(tenant: Tenant, **of_old: Any) -> tuple[str, str]:
    old = commit(tenant.agent, OLD, observed_at=JANUARY, **of_old)
    return old, commit(tenant.agent, NEW, observed_at=MARCH)


def replace(caller: Caller, memory: str, other: str) -> Any:
    return caller.post(f"memories/{memory}/relations", {"other": other, "relation": "replaces"})


def shown(tenant: Tenant, memory: str) -> dict[str, Any]:
    body: dict[str, Any] = tenant.admin.get(f"memories/{memory}").json()
    return body


def detect(tenant: Tenant) -> list[dict[str, Any]]:
    detect_due(tenant.workspace, clock=timezone.now)
    cards: list[dict[str, Any]] = tenant.reader.get("conflicts").json()["results"]
    return cards


def test_the_older_memory_is_superseded_and_nobody_is_asked(tenant: Tenant) -> None:
    old, new = commit_pair(tenant)
    answer = replace(tenant.agent, new, old)
    assert (answer.status_code, answer.json()["outcome"]) == (201, "replaced")
    assert answer.json()["detail"] == "The other memory is superseded by this one."
    assert (shown(tenant, old)["state"], shown(tenant, new)["state"]) == ("superseded", "active")
    assert detect(tenant) == []
    assert tenant.reader.get("merge-suggestions").json()["results"] == []
    events = tenant.reader.get(f"memories/{old}/history").json()["results"]
    superseded = next(event for event in events if event["type"] == "memory.superseded")
    assert superseded["data"]["by"] == new
    events = tenant.reader.get(f"memories/{new}/history").json()["results"]
    judged = next(event for event in events if event["type"] == "memory.judged")
    assert (judged["data"]["other"], judged["data"]["relation"]) == (old, "replaces")


def test_recall_of_an_earlier_time_returns_what_held_then(tenant: Tenant) -> None:
    old, new = commit_pair(tenant)
    replace(tenant.agent, new, old)

    def recalled(**body: Any) -> list[str]:
        answer = tenant.reader.post("memories/recall", {"query": "API rate limit", **body})
        return [row["memory"]["id"] for row in answer.json()["results"]]

    assert recalled() == [new]
    assert recalled(as_of="2026-02-01T00:00:00Z") == [old]


def test_what_an_agent_may_not_supersede_waits_for_a_person(tenant: Tenant) -> None:
    old, new = commit_pair(tenant, provenance="user_stated")
    before = [shown(tenant, one) for one in (old, new)]
    answer = replace(tenant.agent, new, old)
    assert (answer.status_code, answer.json()["status"]) == (202, "pending")
    assert [shown(tenant, one) for one in (old, new)] == before
    review = tenant.agent.get(f"reviews/{answer.json()['review']}").json()
    assert (review["kind"], review["memory"]["id"]) == ("replace", old)
    assert review["request"] == {"content": NEW, "replaced_by": new}
    assert replace(tenant.agent, new, old).json() == answer.json()
    assert detect(tenant) == []  # a person is asked already
    accepted = tenant.reviewer.post(f"reviews/{review['id']}/accept")
    assert (accepted.status_code, accepted.json()["result"]) == (200, new)
    assert shown(tenant, old)["state"] == "superseded"
    assert shown(tenant, new)["state"] == "active"


def test_after_a_rejection_both_stay_and_the_detective_asks(tenant: Tenant) -> None:
    old, new = commit_pair(tenant, provenance="user_stated")
    review = replace(tenant.agent, new, old).json()["review"]
    assert tenant.reviewer.post(f"reviews/{review}/reject").status_code == 200
    [card] = detect(tenant)
    assert [member["id"] for member in card["memories"]] == [old, new]


@pytest.mark.parametrize("change", ["reword", "forget", "erase"])
def test_a_review_lapses_when_the_successor_has_changed(tenant: Tenant, change: str) -> None:
    old, new = commit_pair(tenant, provenance="user_stated")
    review = replace(tenant.agent, new, old).json()["review"]
    if change == "reword":
        words = {"content": "The API rate limit is 7000 requests per second."}
        assert tenant.agent.patch(f"memories/{new}", words).status_code == 200
    elif change == "forget":
        tenant.agent.post("memories/forget", {"ids": [new], "confirm": True})
    else:
        assert tenant.admin.delete(f"memories/{new}").status_code == 204
    answer = tenant.reviewer.post(f"reviews/{review}/accept")
    assert answer.status_code == (404 if change == "erase" else 409)
    assert shown(tenant, old)["state"] == "active"


def test_an_agents_word_about_a_users_statement_is_the_agents(tenant: Tenant) -> None:
    """What a user said twice: which of the two holds is the conclusion of who relates them."""
    old = commit(tenant.agent, OLD, observed_at=JANUARY, provenance="user_stated")
    new = commit(tenant.agent, NEW, observed_at=MARCH, provenance="user_stated")
    assert replace(issue_agent(tenant.workspace), new, old).status_code == 202
    assert replace(tenant.agent, new, old).status_code == 201  # this key may pass on a user's word


def test_what_a_person_wrote_waits_and_a_person_needs_no_review(tenant: Tenant) -> None:
    old = commit(tenant.reviewer, OLD, observed_at=JANUARY)
    new = commit(tenant.agent, NEW, observed_at=MARCH)
    assert replace(tenant.agent, new, old).status_code == 202
    assert replace(tenant.reviewer, new, old).json()["outcome"] == "replaced"


def test_an_older_memory_replaces_a_newer_one_only_if_a_person_says_so(tenant: Tenant) -> None:
    old, new = commit_pair(tenant)
    answer = replace(tenant.agent, old, new)
    assert answer.status_code == 202
    reason = tenant.agent.get(f"reviews/{answer.json()['review']}").json()["reason"]
    assert reason == "It was observed before the memory that it would replace."
    assert replace(tenant.reviewer, old, new).json()["outcome"] == "replaced"


def test_an_open_card_is_not_decided_by_an_agent(tenant: Tenant) -> None:
    old, new = commit_pair(tenant)
    [card] = detect(tenant)
    answer = replace(tenant.agent, new, old).json()
    assert (answer["outcome"], answer["conflict"]) == ("disputed", card["id"])
    assert shown(tenant, old)["state"] == "active"


def test_a_rollback_of_the_successor_brings_the_older_one_back(tenant: Tenant) -> None:
    began = timezone.now() - timedelta(minutes=1)
    old = commit(tenant.agent, OLD, agent="forge", observed_at=JANUARY)
    new = commit(tenant.agent, NEW, agent="scout", observed_at=MARCH)
    replace(tenant.agent, new, old)
    body = {"agent": "scout", "since": began.isoformat(), "confirm": True}
    assert tenant.admin.post("memories/rollback", body).json()["brought_back"] == 1
    assert shown(tenant, old)["state"] == "active"
    tenant.admin.post("memories/restore", {"ids": [new]})
    assert shown(tenant, new)["state"] == "active"


@pytest.fixture
def key_of_ours(tenant: Tenant) -> tuple[Caller, str]:
    """A key of an agent, and its id."""
    made = tenant.admin.post("keys", {"name": "rogue", "role": "agent"}).json()
    return Caller(made["key"], Client()), made["id"]


def roll_back(tenant: Tenant, began: datetime, **writer: str) -> dict[str, Any]:
    body = {"since": began.isoformat(), **writer}
    would = tenant.admin.post("memories/rollback", body).json()
    answer = tenant.admin.post("memories/rollback", body | {"confirm": True})
    assert answer.status_code == 200, answer.json()
    done: dict[str, Any] = answer.json()
    assert done["brought_back"] == would["would_bring_back"]
    return done


def test_a_rollback_of_who_answered_brings_the_replaced_memory_back(
    tenant: Tenant, key_of_ours: tuple[Caller, str]
) -> None:
    rogue, key_id = key_of_ours
    began = timezone.now()
    old, new = commit_pair(tenant)
    assert replace(rogue, new, old).json()["outcome"] == "replaced"
    done = roll_back(tenant, began, key_id=key_id)
    assert (done["forgotten"], done["brought_back"]) == (0, 1)
    assert (shown(tenant, old)["state"], shown(tenant, new)["state"]) == ("active", "active")
    [card] = detect(tenant)  # the word of the key counts no more
    assert [member["id"] for member in card["memories"]] == [old, new]
    tenant.admin.post("memories/restore", {"rollback": done["rollback"]})
    assert shown(tenant, old)["superseded_by"] == new


def test_a_rollback_of_who_repeated_a_replacement_brings_the_replaced_memory_back(
    tenant: Tenant, key_of_ours: tuple[Caller, str]
) -> None:
    rogue, key_id = key_of_ours
    began = timezone.now()
    old, new = commit_pair(tenant)
    answer = rogue.post("memories", {"content": NEW, "supersedes": old})
    assert (answer.status_code, answer.json()["outcome"]) == (200, "duplicate")
    assert shown(tenant, old)["superseded_by"] == new
    assert roll_back(tenant, began, key_id=key_id)["brought_back"] == 1
    assert shown(tenant, old)["state"] == "active"


def test_a_rollback_leaves_what_others_replaced(
    tenant: Tenant, key_of_ours: tuple[Caller, str]
) -> None:
    rogue, key_id = key_of_ours
    began = timezone.now()
    old, new = commit_pair(tenant)
    replace(rogue, new, old)
    first = roll_back(tenant, began, key_id=key_id)
    assert replace(tenant.reviewer, new, old).status_code == 201  # somebody else says so, too
    assert roll_back(tenant, began, key_id=key_id)["brought_back"] == 0
    assert first["brought_back"] == 1
    assert shown(tenant, old)["superseded_by"] == new


def test_a_rollback_by_another_name_or_of_another_time_leaves_what_the_key_replaced(
    tenant: Tenant, key_of_ours: tuple[Caller, str]
) -> None:
    rogue, key_id = key_of_ours
    began = timezone.now()
    old, new = commit_pair(tenant)
    replace(rogue, new, old)
    assert roll_back(tenant, began, key_id=key_id, agent="scout")["brought_back"] == 0
    assert roll_back(tenant, timezone.now(), key_id=key_id)["brought_back"] == 0
    assert shown(tenant, old)["state"] == "superseded"


def test_a_rollback_leaves_what_a_person_agreed_to(
    tenant: Tenant, key_of_ours: tuple[Caller, str]
) -> None:
    rogue, key_id = key_of_ours
    began = timezone.now()
    old, new = commit_pair(tenant, provenance="user_stated")
    review = replace(rogue, new, old).json()["review"]
    assert tenant.reviewer.post(f"reviews/{review}/accept").status_code == 200
    assert roll_back(tenant, began, key_id=key_id)["brought_back"] == 0
    assert shown(tenant, old)["state"] == "superseded"


def test_a_pair_that_was_replaced_is_not_asked_about_when_both_are_live_again(
    tenant: Tenant,
) -> None:
    old, new = commit_pair(tenant)
    replace(tenant.agent, new, old)
    with in_workspace(tenant.workspace):
        Memory.objects.update(superseded_at=None, superseded_by=None)
    assert detect(tenant) == []


def test_a_return_to_what_was_replaced_is_a_reversal(tenant: Tenant) -> None:
    told = (
        ("Outgoing messages are queued on SQS, one queue per channel.", JANUARY),
        ("Replaced SQS by RabbitMQ for outgoing messages to get priority queues.", MARCH),
        ("Outgoing messages wait in SQS, one queue per channel.", MAY),
    )
    old, change, again = (
        commit(tenant.agent, text, scope="notifier", observed_at=at, session_key=at)
        for text, at in told
    )
    assert replace(tenant.agent, change, old).json()["outcome"] == "replaced"
    [card] = detect(tenant)
    assert (card["kind"], card["detected_by"]) == ("reversal", ["rules"])
    assert [member["id"] for member in card["memories"]] == [change, again]


def test_the_same_answer_again_is_answered_as_the_first(tenant: Tenant) -> None:
    old, new = commit_pair(tenant)
    first = replace(tenant.agent, new, old)
    before = [shown(tenant, one) for one in (old, new)]
    again = replace(tenant.agent, new, old)
    assert (again.status_code, again.json()) == (201, first.json())
    assert [shown(tenant, one) for one in (old, new)] == before


def test_an_answer_that_a_person_agreed_to_may_be_repeated(tenant: Tenant) -> None:
    old, new = commit_pair(tenant, provenance="user_stated")
    review = replace(tenant.agent, new, old).json()["review"]
    assert tenant.reviewer.post(f"reviews/{review}/accept").status_code == 200
    again = replace(tenant.agent, new, old)
    assert (again.status_code, again.json()["outcome"]) == (201, "replaced")


def test_only_the_answer_that_replaced_the_memory_may_be_repeated(tenant: Tenant) -> None:
    old, new = commit_pair(tenant)
    third = commit(tenant.agent, "The API rate limit is 9000 requests per second.")
    replace(tenant.agent, new, old)
    assert replace(issue_agent(tenant.workspace), new, old).status_code == 422  # of another key
    assert replace(tenant.agent, third, old).status_code == 422
    assert replace(tenant.agent, old, new).status_code == 409
    replace(tenant.agent, third, new)
    assert replace(tenant.agent, new, old).status_code == 409  # itself replaced meanwhile


def test_a_repeated_request_of_one_key_of_idempotency_is_one_answer(tenant: Tenant) -> None:
    old, new = commit_pair(tenant)
    headers = {"Idempotency-Key": "k"}
    path, body = f"memories/{new}/relations", {"other": old, "relation": "replaces"}
    sent = [tenant.agent.post(path, body, **headers).json() for _ in range(2)]
    assert sent[0] == sent[1]
    with in_workspace(tenant.workspace):
        assert Judgement.objects.count() == 1
