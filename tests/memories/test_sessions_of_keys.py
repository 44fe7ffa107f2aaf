"""A session belongs to the key that started it: nobody else speaks for it, or in it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from conflicts.services.detection.detect import detect_due
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Session, SessionCandidate
from memories.services.recall.turns import neighbours
from tests.conftest import NOW, Caller, Tenant, build_tenant, issue_agent
from tests.statements import statements

DOG = "The office dog is called Biscuit."
JUNK = "junk " * 200


def commit(caller: Caller, content: str, **fields: Any) -> str:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.json()
    memory_id: str = answer.json()["memory"]["id"]
    return memory_id


@pytest.fixture
def dog(tenant: Tenant) -> str:
    """Return a memory that the session `s1` of the tenant's agent is given."""
    memory_id = commit(tenant.agent, DOG)
    started = tenant.agent.post("sessions", {"session_key": "s1", "context": "the dog"})
    assert started.status_code == 201
    return memory_id


def record(tenant: Tenant) -> tuple[Any, ...]:
    """Return what a session's rows say."""
    with in_workspace(tenant.workspace):
        session = Session.objects.values_list("ended_at", "transcript", "prompt_count").get()
        rows = SessionCandidate.objects.values_list("feedback", "fts_hit_count").order_by("pk")
        return (*session, *rows)


def calls(dog: str) -> dict[str, dict[str, Any]]:
    return {
        "prompts": {"prompt": "Who is Biscuit?"},
        "feedback": {"memory_id": dog, "value": -1},
        "end": {"transcript": JUNK},
    }


def test_another_key_neither_asks_nor_votes_nor_ends(tenant: Tenant, dog: str) -> None:
    other, before = issue_agent(tenant.workspace), record(tenant)
    for verb, body in calls(dog).items():
        answer = other.post(f"sessions/s1/{verb}", body)
        assert (answer.status_code, verb) == (403, verb)
        assert "Another key" in answer.json()["detail"]
        assert record(tenant) == before
    again = other.post("sessions", {"session_key": "s1"})
    assert (again.status_code, "memories" in again.json()) == (409, False)
    assert "choose another session_key" in again.json()["detail"]
    for verb, body in calls(dog).items():
        assert tenant.agent.post(f"sessions/s1/{verb}", body).status_code in {200, 202}
    assert tenant.agent.post("sessions", {"session_key": "s1"}).status_code == 200


@pytest.mark.parametrize("role", ["reviewer", "admin"])
def test_reviewers_end_the_session_of_a_lost_key_and_no_more(
    tenant: Tenant, dog: str, role: str
) -> None:
    caller = tenant.caller(role)
    for verb in ("prompts", "feedback"):
        assert caller.post(f"sessions/s1/{verb}", calls(dog)[verb]).status_code == 403
    assert caller.post("sessions", {"session_key": "s1"}).status_code == 409
    assert caller.post("sessions/s1/end", {}).status_code == 202
    assert tenant.reader.get("sessions/s1").json()["state"] == "ended"


@pytest.mark.parametrize(("role", "status"), [("agent", 403), ("reviewer", 202)])
def test_members_end_the_sessions_of_keys_as_reviewers(
    tenant: Tenant, dog: str, member: Any, role: str, status: int
) -> None:
    path, json = "/api/v1/sessions/s1/end", "application/json"
    assert member(role).post(path, {}, content_type=json).status_code == status


def test_unknown_sessions_and_those_of_another_workspace_are_the_same(
    tenant: Tenant, neighbour: Tenant, dog: str
) -> None:
    answers = [neighbour.agent.post(f"sessions/{key}/end", {}) for key in ("s1", "s2")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert neighbour.agent.post("sessions", {"session_key": "s1"}).status_code == 201


def test_two_keys_that_start_one_session_at_once_do_not_share_it(transactional_db: None) -> None:
    tenant = build_tenant("busy")
    commit(tenant.agent, DOG)
    callers = [tenant.agent, issue_agent(tenant.workspace)]
    barrier = Barrier(2)

    def start(caller: Caller) -> int:
        barrier.wait()
        try:
            status: int = caller.post("sessions", {"session_key": "s1"}).status_code
            return status
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(start, callers)) == [201, 409]


def test_what_others_commit_under_the_key_is_no_part_of_the_session(
    tenant: Tenant, dog: str
) -> None:
    own = commit(tenant.agent, "Biscuit sleeps in the hall.", session_key="s1")
    next_ = commit(tenant.agent, "Biscuit eats at noon.", session_key="s1")
    forged = commit(issue_agent(tenant.workspace), "Biscuit hates Rita.", session_key="s1")
    told = tenant.reader.get("timeline/s1").json()["entries"]
    committed = {entry["object"] for entry in told if entry["source"] == "memory"}
    assert {own, next_} <= committed
    assert forged not in committed
    with in_workspace(tenant.workspace):
        ids = {str(m.pk): m.pk for m in Memory.objects.all()}
        around = neighbours(Memory.objects.recallable(), [ids[next_], ids[forged]])
    assert around == {ids[next_]: ([ids[own]], []), ids[forged]: ([], [])}


def test_a_foreign_session_key_hides_no_contradiction(tenant: Tenant) -> None:
    """One conversation may change its mind; what another key says under its key is another's."""
    place = {"session_key": "run-1", "scope": "ops", "observed_at": NOW.isoformat()}
    commit(tenant.agent, "The rate limit is 1000 requests a minute.", **place)
    other = issue_agent(tenant.workspace)
    commit(other, "The rate limit is 5000 requests a minute.", **place)
    detect_due(tenant.workspace, clock=lambda: NOW)
    assert len(tenant.reader.get("conflicts").json()["results"]) == 1


def test_one_conversation_of_one_key_is_still_one(tenant: Tenant) -> None:
    place = {"session_key": "run-1", "scope": "ops", "observed_at": NOW.isoformat()}
    commit(tenant.agent, "The rate limit is 1000 requests a minute.", **place)
    commit(tenant.agent, "The rate limit is 5000 requests a minute.", **place)
    detect_due(tenant.workspace, clock=lambda: NOW)
    assert tenant.reader.get("conflicts").json()["results"] == []


def test_the_prompt_of_another_key_reads_and_locks_no_memory(tenant: Tenant, dog: str) -> None:
    other = issue_agent(tenant.workspace)
    with statements() as sent:
        assert other.post("sessions/s1/prompts", {"prompt": "Is it Biscuit?"}).status_code == 403
    assert any("FROM memories_session" in one for one in sent)
    for one in sent:
        assert "memories_memory" not in one
        assert "memories_posting" not in one
        assert "memories_session" not in one or "FOR " not in one
