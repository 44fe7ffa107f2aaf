"""Rolling a writer back (P10): previewed, done, undone."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from memories.models import Memory
from memories.services.lifecycle import rollback
from memories.services.locks import lock
from tests.conftest import Caller, Tenant, issue_agent


def commit(caller: Caller, content: str, **fields: Any) -> dict[str, Any]:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


def state(tenant: Tenant, memory: dict[str, Any]) -> str:
    found: str = tenant.agent.get(f"memories/{memory['id']}").json()["state"]
    return found


def roll_back(tenant: Tenant, since: str, **body: Any) -> dict[str, Any]:
    answer = tenant.admin.post("memories/rollback", {"since": since, **body})
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def test_a_rollback_is_previewed_done_and_undone(tenant: Tenant) -> None:
    old = commit(tenant.agent, "The gate opens at nine.", agent="mallory")
    honest = commit(tenant.agent, "The office is in Ghent.", agent="alice")
    since = timezone.now().isoformat()
    bad = commit(tenant.agent, "The office is in Bruges.", agent="mallory", supersedes=honest["id"])
    other = commit(tenant.agent, "Pears ripen in August.", agent="alice")
    writer = {"agent": "mallory"}

    would = roll_back(tenant, since, **writer)
    assert [row["id"] for row in would["would_forget"]] == [bad["id"]]
    assert (would["total"], would["would_bring_back"], would["would_reword"]) == (1, 1, 0)
    assert (state(tenant, bad), state(tenant, honest)) == ("active", "superseded")

    done = roll_back(tenant, since, **writer, confirm=True)
    assert (done["forgotten"], done["brought_back"]) == (1, 1)
    assert [state(tenant, m) for m in (old, honest, bad, other)] == [
        "active", "active", "forgotten", "active",
    ]  # fmt: skip
    told = tenant.agent.get("events", {"type": "writer.rolled_back"}).json()["results"]
    assert [event["data"]["forgotten"] for event in told] == [1]
    assert roll_back(tenant, since, **writer, confirm=True)["forgotten"] == 0

    undone = tenant.admin.post("memories/restore", {"rollback": done["rollback"]}).json()
    assert undone["ids"] == [bad["id"]]
    assert [state(tenant, m) for m in (honest, bad)] == ["superseded", "active"]
    back = tenant.agent.get(f"memories/{honest['id']}").json()
    assert back["superseded_by"] == bad["id"]


def test_what_somebody_replaced_again_stays_replaced(tenant: Tenant) -> None:
    first = commit(tenant.agent, "The office is in Ghent.", agent="alice")
    since = timezone.now().isoformat()
    bad = commit(tenant.agent, "The office is in Bruges.", agent="mallory", supersedes=first["id"])
    last = commit(tenant.agent, "The office is in Liege.", agent="alice", supersedes=bad["id"])
    roll_back(tenant, since, agent="mallory", confirm=True)
    assert [state(tenant, m) for m in (first, bad, last)] == ["superseded", "forgotten", "active"]


@pytest.mark.parametrize("by_word", [False, True])
def test_what_somebody_replaces_before_the_locks_stays_replaced(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, by_word: bool
) -> None:
    other = issue_agent(tenant.workspace)
    first = commit(other, "The office is in Ghent.")
    last = commit(other, "The office is in Liege.")
    known = commit(other, "The office is in Bruges.") if by_word else None
    since = timezone.now().isoformat()
    bad = commit(tenant.agent, "The office is in Bruges.", supersedes=first["id"])
    assert (known is None) or known["id"] == bad["id"]
    assert state(tenant, first) == "superseded"

    def lock_late(ids: Collection[UUID]) -> list[Memory]:
        Memory.objects.filter(pk=first["id"]).update(superseded_by=last["id"])
        return lock(ids)

    monkeypatch.setattr(rollback, "lock", lock_late)
    keys = tenant.admin.get("keys").json()["results"]
    key_id = next(row["id"] for row in keys if row["name"] == "acme agent")
    done = roll_back(tenant, since, key_id=key_id, confirm=True)
    assert (done["forgotten"], done["brought_back"]) == (0 if by_word else 1, 0)
    assert state(tenant, first) == "superseded"


def test_a_wording_that_the_writer_changed_goes_back(tenant: Tenant) -> None:
    other = issue_agent(tenant.workspace)
    mine = commit(other, "The office is in Ghent.")
    later = commit(other, "Pears ripen in August.")
    since = timezone.now().isoformat()
    for memory in (mine, later):
        tenant.agent.patch(f"memories/{memory['id']}", {"content": f"Wrong about {memory['id']}."})
    tenant.reviewer.patch(f"memories/{later['id']}", {"content": "Pears ripen in September."})
    keys = tenant.admin.get("keys").json()["results"]
    key_id = next(row["id"] for row in keys if row["name"] == "acme agent")
    done = roll_back(tenant, since, key_id=key_id, confirm=True)
    assert (done["forgotten"], done["reworded"]) == (0, 1)
    shown = [tenant.reader.get(f"memories/{m['id']}").json()["content"] for m in (mine, later)]
    assert shown == ["The office is in Ghent.", "Pears ripen in September."]
    found = tenant.reader.get("memories", {"q": "Ghent"}).json()["results"]
    assert [row["id"] for row in found] == [mine["id"]]


@pytest.mark.parametrize(
    "body", [{}, {"agent": ""}, {"agent": "a", "since": "2199-01-01T00:00:00Z"}, {"key_id": "x"}]
)
def test_a_rollback_names_a_writer_and_a_past_time(tenant: Tenant, body: dict[str, Any]) -> None:
    sent = {"since": "2020-01-01T00:00:00Z", "confirm": True, **body}
    assert tenant.admin.post("memories/rollback", sent).status_code == 422


def test_a_rollback_stays_in_its_workspace(tenant: Tenant, neighbour: Tenant) -> None:
    theirs = commit(neighbour.agent, "The office is in Ghent.", agent="mallory")
    commit(tenant.agent, "The office is in Ghent.", agent="mallory")
    done = roll_back(tenant, "2020-01-01T00:00:00Z", agent="mallory", confirm=True)
    assert done["forgotten"] == 1
    assert state(neighbour, theirs) == "active"
    foreign = neighbour.admin.post("memories/restore", {"rollback": done["rollback"]})
    assert foreign.status_code == 404


def test_a_session_is_rolled_back_without_the_others_of_its_agent(tenant: Tenant) -> None:
    kept = commit(tenant.agent, "The hall is large.", agent="a", session_key="s1")
    gone = commit(tenant.agent, "Pears ripen in August.", agent="a", session_key="s2")
    roll_back(tenant, "2020-01-01T00:00:00Z", agent="a", session_key="s2", confirm=True)
    assert [state(tenant, m) for m in (kept, gone)] == ["active", "forgotten"]
