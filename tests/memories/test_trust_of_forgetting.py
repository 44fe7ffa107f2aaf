"""Who may bring back what was forgotten, and what is forgotten along."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from tests.conftest import Caller, Tenant

PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."


def commit(caller: Caller, content: str, **fields: Any) -> dict[str, Any]:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


def state(tenant: Tenant, memory_id: str) -> str:
    found: str = tenant.agent.get(f"memories/{memory_id}").json()["state"]
    return found


@pytest.fixture
def merged(tenant: Tenant) -> tuple[str, str, str]:
    """Return the survivor and the absorbed part of an accepted merge, and a time before it."""
    older = commit(tenant.agent, PLAIN, provenance="user_stated")["id"]
    newer = commit(tenant.agent, FINER)["id"]
    (row,) = tenant.reader.get("merge-suggestions").json()["results"]
    before = timezone.now().isoformat()
    assert tenant.reviewer.post(f"merge-suggestions/{row['id']}/accept", {}).status_code == 200
    return older, newer, before


def test_an_agent_does_not_undo_a_rollback(tenant: Tenant) -> None:
    since = timezone.now().isoformat()
    bad = commit(tenant.agent, "The vault is left open.", agent="mallory")
    body = {"since": since, "agent": "mallory", "confirm": True}
    done = tenant.admin.post("memories/rollback", body).json()
    for caller in (tenant.agent, tenant.reviewer):
        undone = caller.post("memories/restore", {"rollback": done["rollback"]})
        assert undone.status_code == 403
    assert tenant.agent.post("memories/restore", {"ids": [bad["id"]]}).status_code == 202
    revival = {"content": "The vault is left open.", "revive": True}
    assert tenant.agent.post("memories", revival).status_code == 202
    assert state(tenant, bad["id"]) == "forgotten"
    undone = tenant.admin.post("memories/restore", {"rollback": done["rollback"]})
    assert undone.json()["ids"] == [bad["id"]]


@pytest.mark.parametrize(("by", "status"), [("agent", 200), ("reviewer", 202), ("admin", 202)])
def test_an_agent_brings_back_what_agents_forgot(tenant: Tenant, by: str, status: int) -> None:
    memory = commit(tenant.agent, "Rita sings in a choir.")
    tenant.caller(by).post("memories/forget", {"ids": [memory["id"]], "confirm": True})
    asked = tenant.agent.post("memories/restore", {"ids": [memory["id"]]})
    assert asked.status_code == status


def test_what_was_merged_takes_its_survivor_along_when_it_is_forgotten(
    tenant: Tenant, merged: tuple[str, str, str]
) -> None:
    older, newer, _ = merged
    would = tenant.reviewer.post("memories/forget", {"ids": [newer]}).json()["would_forget"]
    assert {row["id"] for row in would} == {older, newer}
    gone = tenant.reviewer.post("memories/forget", {"ids": [newer], "confirm": True}).json()
    assert set(gone["ids"]) == {older, newer}
    recalled = tenant.reader.post("memories/recall", {"query": PLAIN}).json()
    assert recalled["results"] == []


def test_what_was_split_off_is_forgotten_alone(
    tenant: Tenant, merged: tuple[str, str, str]
) -> None:
    older, newer, _ = merged
    (split,) = [
        row["data"]["merged"]
        for row in tenant.agent.get(f"memories/{older}/history").json()["results"]
        if row["type"] == "memory.merged"
    ]
    body = {"observation_id": split}
    assert tenant.reviewer.post(f"memories/{older}/split", body).status_code == 200
    gone = tenant.reviewer.post("memories/forget", {"ids": [newer], "confirm": True}).json()
    assert gone["ids"] == [newer]


def test_what_was_merged_is_forgotten_and_restored_with_its_survivor(
    tenant: Tenant, merged: tuple[str, str, str]
) -> None:
    older, newer, before = merged
    would = tenant.reviewer.post("memories/forget", {"ids": [older]}).json()["would_forget"]
    asked = {"ids": [older], "confirm": True}
    assert tenant.agent.post("memories/forget", asked).status_code == 202  # a reviewer merged it
    gone = tenant.reviewer.post("memories/forget", asked).json()
    assert {row["id"] for row in would} == set(gone["ids"]) == {older, newer}
    asked = {"query": "when does the deploy run", "as_of": before}
    assert tenant.reader.post("memories/recall", asked).json()["results"] == []
    superseded = {"state": "superseded"}
    assert tenant.reader.get("memories", superseded).json()["results"] == []

    back = tenant.reviewer.post("memories/restore", {"ids": [older]}).json()
    assert set(back["ids"]) == {older, newer}
    assert (state(tenant, older), state(tenant, newer)) == ("active", "superseded")


def test_what_was_forgotten_before_its_survivor_stays_forgotten(
    tenant: Tenant, merged: tuple[str, str, str]
) -> None:
    older, newer, _ = merged
    with in_workspace(tenant.workspace):  # as a rollback does, which takes no survivor along
        Memory.objects.filter(pk=newer).update(forgotten_at=timezone.now() - timedelta(hours=1))
    tenant.reviewer.post("memories/forget", {"ids": [older], "confirm": True})
    tenant.reviewer.post("memories/restore", {"ids": [older]})
    assert (state(tenant, older), state(tenant, newer)) == ("active", "forgotten")
