"""Rolling a writer back (P10): previewed, done, undone."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from tests.conftest import Caller, House, issue_agent


def commit(caller: Caller, content: str, **fields: Any) -> dict[str, Any]:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


def state(house: House, memory: dict[str, Any]) -> str:
    found: str = house.agent.get(f"memories/{memory['id']}").json()["state"]
    return found


def roll_back(house: House, since: str, **body: Any) -> dict[str, Any]:
    answer = house.admin.post("memories/rollback", {"since": since, **body})
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def test_a_rollback_is_previewed_done_and_undone(house: House) -> None:
    old = commit(house.agent, "The gate opens at nine.", agent="mallory")
    honest = commit(house.agent, "The office is in Ghent.", agent="alice")
    since = timezone.now().isoformat()
    bad = commit(house.agent, "The office is in Bruges.", agent="mallory", supersedes=honest["id"])
    other = commit(house.agent, "Pears ripen in August.", agent="alice")
    writer = {"agent": "mallory"}

    would = roll_back(house, since, **writer)
    assert [row["id"] for row in would["would_forget"]] == [bad["id"]]
    assert (would["total"], would["would_bring_back"], would["would_reword"]) == (1, 1, 0)
    assert (state(house, bad), state(house, honest)) == ("active", "superseded")

    done = roll_back(house, since, **writer, confirm=True)
    assert (done["forgotten"], done["brought_back"]) == (1, 1)
    assert [state(house, m) for m in (old, honest, bad, other)] == [
        "active", "active", "forgotten", "active",
    ]  # fmt: skip
    told = house.agent.get("events", {"type": "writer.rolled_back"}).json()["results"]
    assert [event["data"]["forgotten"] for event in told] == [1]
    assert roll_back(house, since, **writer, confirm=True)["forgotten"] == 0

    undone = house.admin.post("memories/restore", {"rollback": done["rollback"]}).json()
    assert undone["ids"] == [bad["id"]]
    assert [state(house, m) for m in (honest, bad)] == ["superseded", "active"]
    back = house.agent.get(f"memories/{honest['id']}").json()
    assert back["superseded_by"] == bad["id"]


def test_what_somebody_replaced_again_stays_replaced(house: House) -> None:
    first = commit(house.agent, "The office is in Ghent.", agent="alice")
    since = timezone.now().isoformat()
    bad = commit(house.agent, "The office is in Bruges.", agent="mallory", supersedes=first["id"])
    last = commit(house.agent, "The office is in Liege.", agent="alice", supersedes=bad["id"])
    roll_back(house, since, agent="mallory", confirm=True)
    assert [state(house, m) for m in (first, bad, last)] == ["superseded", "forgotten", "active"]


def test_a_wording_that_the_writer_changed_goes_back(house: House) -> None:
    other = issue_agent(house.workspace)
    mine = commit(other, "The office is in Ghent.")
    later = commit(other, "Pears ripen in August.")
    since = timezone.now().isoformat()
    for memory in (mine, later):
        house.agent.patch(f"memories/{memory['id']}", {"content": f"Wrong about {memory['id']}."})
    house.reviewer.patch(f"memories/{later['id']}", {"content": "Pears ripen in September."})
    keys = house.admin.get("keys").json()["results"]
    key_id = next(row["id"] for row in keys if row["name"] == "acme agent")
    done = roll_back(house, since, key_id=key_id, confirm=True)
    assert (done["forgotten"], done["reworded"]) == (0, 1)
    shown = [house.reader.get(f"memories/{m['id']}").json()["content"] for m in (mine, later)]
    assert shown == ["The office is in Ghent.", "Pears ripen in September."]
    found = house.reader.get("memories", {"q": "Ghent"}).json()["results"]
    assert [row["id"] for row in found] == [mine["id"]]


@pytest.mark.parametrize(
    "body", [{}, {"agent": ""}, {"agent": "a", "since": "2199-01-01T00:00:00Z"}, {"key_id": "x"}]
)
def test_a_rollback_names_a_writer_and_a_past_time(house: House, body: dict[str, Any]) -> None:
    sent = {"since": "2020-01-01T00:00:00Z", "confirm": True, **body}
    assert house.admin.post("memories/rollback", sent).status_code == 422


def test_a_rollback_stays_in_its_workspace(house: House, neighbour: House) -> None:
    theirs = commit(neighbour.agent, "The office is in Ghent.", agent="mallory")
    commit(house.agent, "The office is in Ghent.", agent="mallory")
    done = roll_back(house, "2020-01-01T00:00:00Z", agent="mallory", confirm=True)
    assert done["forgotten"] == 1
    assert state(neighbour, theirs) == "active"
    foreign = neighbour.admin.post("memories/restore", {"rollback": done["rollback"]})
    assert foreign.status_code == 404


def test_a_session_is_rolled_back_without_the_others_of_its_agent(house: House) -> None:
    kept = commit(house.agent, "The hall is large.", agent="a", session_key="s1")
    gone = commit(house.agent, "Pears ripen in August.", agent="a", session_key="s2")
    roll_back(house, "2020-01-01T00:00:00Z", agent="a", session_key="s2", confirm=True)
    assert [state(house, m) for m in (kept, gone)] == ["active", "forgotten"]
