"""Answers through merges, splits, rollbacks, forgetting and erasing."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import MemoryAnswer, Merge, Observation, Revision
from tests.conftest import Caller, Tenant, issue_agent
from tests.memories.test_erase import CANARY, redis_keys_holding, tables_holding

PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."
DAY = {
    "question": "On which day does the deploy run?",
    "answer": "Thursday",
    "was": None,
    "source": "written",
}
DAY_TOO = {
    "question": "on which day does the deploy run",
    "answer": "Thursdays",
    "was": "Monday",
    "source": "written",
}
HOUR = {
    "question": "When on its day does the deploy run?",
    "answer": "14:00 UTC",
    "was": None,
    "source": "written",
}
WHO = {"question": "Who starts the deploy?", "answer": "nobody", "was": None, "source": "written"}


def commit(caller: Caller, content: str, **fields: Any) -> dict[str, Any]:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def answers_of(tenant: Tenant, memory_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tenant.reader.get(f"memories/{memory_id}").json()["answers"]
    return found


def observation_of(tenant: Tenant, outcome: str) -> str:
    with in_workspace(tenant.workspace):
        return str(Observation.objects.get(outcome=outcome).pk)


def split(caller: Caller, memory_id: str, observation: str) -> dict[str, Any]:
    answer = caller.post(f"memories/{memory_id}/split", {"observation_id": observation})
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def test_a_merge_keeps_both_sets_and_a_split_undoes_it(tenant: Tenant) -> None:
    survivor = commit(tenant.agent, PLAIN, answers=[DAY])["memory"]["id"]
    merged = commit(tenant.agent, FINER, answers=[HOUR, DAY_TOO])
    assert merged["outcome"] == "merged"
    assert merged["memory"]["answers"] == [DAY, HOUR]
    done = split(tenant.agent, survivor, observation_of(tenant, "merged"))
    assert (done["survivor"]["answers"], done["kept"]) == ([DAY], [])
    assert done["memory"]["answers"] == [HOUR, DAY_TOO]


def test_answers_added_after_a_merge_stay_when_it_is_split(tenant: Tenant) -> None:
    survivor = commit(tenant.agent, PLAIN, answers=[DAY])["memory"]["id"]
    commit(tenant.agent, FINER, answers=[HOUR])
    commit(tenant.agent, FINER, answers=[WHO])
    done = split(tenant.agent, survivor, observation_of(tenant, "merged"))
    assert (done["survivor"]["answers"], done["kept"]) == ([DAY, WHO], [])


def test_a_merge_by_an_agent_adds_no_answers_to_a_persons_memory(tenant: Tenant) -> None:
    memory = commit(tenant.reviewer, PLAIN, answers=[DAY])["memory"]["id"]
    again = commit(issue_agent(tenant.workspace), "The deploy runs on Thursdays.", answers=[WHO])
    assert again["outcome"] == "merged"
    assert answers_of(tenant, memory) == [DAY]


@pytest.mark.parametrize("keeps_newer", [True, False])
def test_an_accepted_merge_unites_answers_and_comes_apart(
    tenant: Tenant, keeps_newer: bool
) -> None:
    trusted = {"provenance": "user_stated", "answers": [DAY]}
    older = commit(tenant.agent, PLAIN, **trusted)["memory"]["id"]
    newer = commit(tenant.agent, FINER, answers=[HOUR, DAY_TOO])["memory"]["id"]
    (row,) = tenant.reader.get("merge-suggestions").json()["results"]
    keep = {"keep": newer if keeps_newer else older}
    tenant.reviewer.post(f"merge-suggestions/{row['id']}/accept", keep)
    assert answers_of(tenant, older) == [DAY, HOUR]
    done = split(tenant.reviewer, older, observation_of(tenant, "absorbed"))
    assert (done["survivor"]["answers"], done["kept"]) == ([DAY], [])
    assert answers_of(tenant, newer) == [HOUR, DAY_TOO]


def roll_back(tenant: Tenant, since: str, **writer: Any) -> dict[str, Any]:
    answer = tenant.admin.post("memories/rollback", {"since": since, "confirm": True, **writer})
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def test_a_rollback_takes_out_answers_of_repetitions_and_merges(tenant: Tenant) -> None:
    memory = commit(tenant.agent, PLAIN, agent="alice", answers=[DAY])["memory"]["id"]
    since = timezone.now().isoformat()
    commit(tenant.agent, PLAIN, agent="mallory", answers=[WHO])
    commit(tenant.agent, FINER, agent="mallory", answers=[HOUR])
    commit(tenant.agent, PLAIN, agent="bob", answers=[WHO | {"question": "Who stops it?"}])
    writer = {"since": since, "agent": "mallory"}
    assert tenant.admin.post("memories/rollback", writer).json()["would_reword"] == 1
    assert roll_back(tenant, since, agent="mallory")["reworded"] == 1
    assert answers_of(tenant, memory) == [DAY, WHO | {"question": "Who stops it?"}]
    assert roll_back(tenant, since, agent="mallory")["reworded"] == 0


def test_a_rollback_leaves_answers_that_others_gave_too(tenant: Tenant) -> None:
    memory = commit(tenant.agent, PLAIN, agent="alice", answers=[DAY])["memory"]["id"]
    since = timezone.now().isoformat()
    commit(tenant.agent, PLAIN, agent="mallory", answers=[WHO])
    commit(tenant.agent, PLAIN, agent="bob", answers=[WHO])
    assert roll_back(tenant, since, agent="mallory")["reworded"] == 0
    assert answers_of(tenant, memory) == [DAY, WHO]


def test_a_rolled_back_memory_that_others_repeated_keeps_their_answers(tenant: Tenant) -> None:
    since = timezone.now().isoformat()
    memory = commit(tenant.agent, PLAIN, agent="mallory", answers=[WHO])["memory"]["id"]
    commit(tenant.agent, PLAIN, agent="alice", answers=[DAY])
    commit(tenant.agent, PLAIN, agent="bob", answers=[HOUR, DAY_TOO])
    roll_back(tenant, since, agent="mallory")
    assert answers_of(tenant, memory) == [DAY, HOUR]


def test_a_rollback_of_a_key_restores_answers_that_it_changed(tenant: Tenant) -> None:
    memory = commit(tenant.agent, PLAIN, answers=[DAY])["memory"]["id"]
    since = timezone.now().isoformat()
    mallory = issue_agent(tenant.workspace, "mallory")
    assert mallory.patch(f"memories/{memory}", {"answers": [WHO]}).status_code == 200
    keys = tenant.admin.get("keys").json()["results"]
    (key,) = [row["id"] for row in keys if row["name"] == "mallory"]
    assert roll_back(tenant, since, key_id=key)["reworded"] == 1
    assert answers_of(tenant, memory) == [DAY]
    told = tenant.reader.get(f"memories/{memory}/history").json()["results"]
    assert told[0]["data"]["fields"] == ["answers"]


def test_forgetting_keeps_answers_for_a_restore(tenant: Tenant) -> None:
    memory = commit(tenant.agent, PLAIN, answers=[DAY])["memory"]["id"]
    tenant.agent.post("memories/forget", {"ids": [memory], "confirm": True})
    assert tenant.reader.get(f"memories/{memory}").status_code == 404
    assert tenant.agent.post("memories/restore", {"ids": [memory]}).status_code == 200
    assert answers_of(tenant, memory) == [DAY]


def test_a_request_to_revive_shows_no_answers(tenant: Tenant) -> None:
    memory = commit(tenant.reviewer, PLAIN)["memory"]["id"]
    tenant.reviewer.post("memories/forget", {"ids": [memory], "confirm": True})
    quoting = {"question": "What was decided?", "answer": f"They say: {PLAIN}"}
    back = {"content": PLAIN, "revive": True, "answers": [quoting]}
    assert issue_agent(tenant.workspace).post("memories", back).status_code == 202
    (review,) = tenant.reviewer.get("reviews").json()["results"]
    assert "answers" not in review["request"]


def test_erasing_removes_answers_everywhere(tenant: Tenant, neighbour: Tenant) -> None:
    secret = {"question": f"Who is {CANARY}?", "answer": f"the {CANARY} of the yard", "was": CANARY}
    memory = commit(tenant.agent, FINER, answers=[secret])["memory"]["id"]
    key = {"Idempotency-Key": "k1"}
    tenant.agent.post("memories", {"content": FINER, "answers": [secret]}, **key)
    tenant.agent.patch(f"memories/{memory}", {"answers": [DAY]})
    tenant.agent.patch(f"memories/{memory}", {"answers": [secret, DAY]}, **key)
    plain = issue_agent(tenant.workspace)
    claim = {"content": FINER, "scope": "x", "provenance": "user_stated", "answers": [secret]}
    assert plain.post("memories", claim).status_code == 202
    theirs = commit(neighbour.agent, FINER, answers=[DAY])["memory"]["id"]
    assert set(tables_holding(CANARY)) == {
        "memories_memoryanswer", "memories_observation", "memories_revision", "memories_review",
        "kernel_idempotentanswer",
    }  # fmt: skip
    assert tenant.admin.delete(f"memories/{memory}").status_code == 204
    assert tables_holding(CANARY) == {}
    assert redis_keys_holding(CANARY) == []
    assert answers_of(neighbour, theirs) == [DAY]


def test_erasing_a_merged_statement_removes_its_answers_from_the_survivor(tenant: Tenant) -> None:
    trusted = {"provenance": "user_stated", "answers": [DAY]}
    older = commit(tenant.agent, PLAIN, **trusted)["memory"]["id"]
    secret = {"question": f"Who is {CANARY}?", "answer": "nobody", "was": None}
    secret["source"] = "written"
    newer = commit(tenant.agent, FINER, answers=[secret, HOUR])["memory"]["id"]
    (row,) = tenant.reader.get("merge-suggestions").json()["results"]
    tenant.reviewer.post(f"merge-suggestions/{row['id']}/accept", {"keep": older})
    tenant.reviewer.post("memories", {"content": PLAIN, "answers": [HOUR, WHO]})
    tenant.reviewer.patch(f"memories/{older}", {"importance": 0.9}, **{"Idempotency-Key": "k"})
    assert secret in answers_of(tenant, older)
    assert tenant.admin.delete(f"memories/{newer}").status_code == 204
    assert tables_holding(CANARY) == {}
    assert answers_of(tenant, older) == [DAY, HOUR, WHO]
    with in_workspace(tenant.workspace):
        assert not Merge.objects.exists()
        assert Revision.objects.exists()


def test_erasing_rewrites_the_cards_of_a_survivor(tenant: Tenant) -> None:
    trusted = {"provenance": "user_stated", "answers": [DAY]}
    older = commit(tenant.agent, PLAIN, **trusted)["memory"]["id"]
    word = {"question": "What is the word of the release gate?", "answer": CANARY}
    newer = commit(tenant.agent, FINER, answers=[word])["memory"]["id"]
    (row,) = tenant.reader.get("merge-suggestions").json()["results"]
    tenant.reviewer.post(f"merge-suggestions/{row['id']}/accept", {"keep": older})
    rival = commit(tenant.agent, "The deploy runs on Friday.", scope="gate")["memory"]["id"]
    card = tenant.agent.post("conflicts", {"memory_ids": [older, rival]}).json()
    tenant.reviewer.post(f"conflicts/{card['id']}/comments", {"text": f"It answers {CANARY}?"})
    assert "conflicts_conflictcomment" in tables_holding(CANARY)
    assert tenant.admin.delete(f"memories/{newer}").status_code == 204
    assert tables_holding(CANARY) == {}
    assert tenant.reader.get(f"conflicts/{card['id']}").status_code == 200


def test_erasing_one_memory_leaves_equal_answers_of_others(tenant: Tenant) -> None:
    memory = commit(tenant.agent, PLAIN, answers=[DAY])["memory"]["id"]
    other = commit(tenant.agent, "Lunch is at noon.", answers=[DAY])["memory"]["id"]
    tenant.admin.delete(f"memories/{memory}")
    assert answers_of(tenant, other) == [DAY]
    with in_workspace(tenant.workspace):
        assert MemoryAnswer.objects.count() == 1
