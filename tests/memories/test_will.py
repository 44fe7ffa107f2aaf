"""Whose word counts: forgetting stays, trust has an order, nothing that was said is dropped."""

from __future__ import annotations

from typing import Any

import pytest

from engram.kernel.tenancy import in_workspace
from memories.models import Observation
from tests.conftest import Caller, Tenant


def commit(caller: Caller, content: str, **fields: Any) -> dict[str, Any]:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def forget(caller: Caller, memory: dict[str, Any]) -> None:
    assert (
        caller.post("memories/forget", {"ids": [memory["id"]], "confirm": True}).json()["forgotten"]
        == 1
    )


def test_a_duplicate_still_supersedes_what_it_names(tenant: Tenant) -> None:
    old = commit(tenant.agent, "The office is in Ghent.")["memory"]
    new = commit(tenant.agent, "The office is in Bruges.")["memory"]
    again = commit(tenant.agent, "The office is in Bruges.", supersedes=old["id"])
    assert (again["outcome"], again["memory"]["id"]) == ("duplicate", new["id"])
    hidden = tenant.agent.get(f"memories/{old['id']}").json()
    assert (hidden["state"], hidden["superseded_by"]) == ("superseded", new["id"])


def test_everything_sent_with_a_duplicate_is_kept(tenant: Tenant) -> None:
    commit(tenant.agent, "The office is in Bruges.")
    commit(tenant.agent, "The office is in Bruges.", tags=["city"], metadata={"page": 3})
    with in_workspace(tenant.workspace):
        kept = Observation.objects.get(outcome="duplicate").fields
    assert (kept["tags"], kept["metadata"]) == (["city"], {"page": 3})


def test_a_memory_cannot_be_reworded_into_what_was_forgotten(tenant: Tenant) -> None:
    forget(tenant.agent, commit(tenant.agent, "Rita sings in a choir.")["memory"])
    other = commit(tenant.agent, "Rita plays chess.")["memory"]
    answer = tenant.agent.patch(f"memories/{other['id']}", {"content": "rita sings in a CHOIR."})
    assert answer.status_code == 422
    assert tenant.agent.get(f"memories/{other['id']}").json()["content"] == "Rita plays chess."


def test_an_earlier_wording_of_a_forgotten_memory_stays_forgotten(tenant: Tenant) -> None:
    memory = commit(tenant.agent, "Rita sings in a choir.")["memory"]
    tenant.agent.patch(f"memories/{memory['id']}", {"content": "Rita sings in the city choir."})
    forget(tenant.agent, memory)
    for wording in ("Rita sings in a choir.", "Rita sings in the city choir."):
        assert commit(tenant.agent, wording)["outcome"] == "suppressed"


def test_a_retired_memory_is_not_revived_but_said_anew(tenant: Tenant) -> None:
    ids = [
        commit(tenant.agent, text)["memory"]["id"]
        for text in ("The gate opens at nine.", "Visitors enter through the courtyard.")
    ]
    card = tenant.agent.post("conflicts", {"memory_ids": ids}).json()
    tenant.reviewer.post(f"conflicts/{card['id']}/resolve", {"verdict": "none_valid"})
    forget(tenant.reviewer, {"id": ids[0]})
    again = commit(tenant.reviewer, "The gate opens at nine.", revive=True)
    assert again["memory"]["state"] == "active"
    assert again["memory"]["id"] != ids[0]


def test_readers_do_not_see_what_was_forgotten(tenant: Tenant) -> None:
    memory = commit(tenant.agent, "Rita sings in a choir.")["memory"]
    forget(tenant.agent, memory)
    for state in ("forgotten", "all"):
        assert tenant.reader.get("memories", {"state": state}).json()["results"] == []
    assert tenant.reader.get(f"memories/{memory['id']}").status_code == 404
    assert tenant.reader.get(f"memories/{memory['id']}/history").status_code == 404
    assert tenant.agent.get(f"memories/{memory['id']}").json()["state"] == "forgotten"


def test_an_agent_does_not_undo_a_persons_forgetting(tenant: Tenant, member: Any) -> None:
    memory = commit(tenant.agent, "Rita sings in a choir.")["memory"]
    person = member("reviewer")
    person.post(
        "/api/v1/memories/forget",
        {"ids": [memory["id"]], "confirm": True},
        content_type="application/json",
    )
    asked = tenant.agent.post("memories/restore", {"ids": [memory["id"]]})
    assert (asked.status_code, asked.json()["restored"]) == (202, 0)
    revival = {"content": "Rita sings in a choir.", "revive": True}
    assert tenant.agent.post("memories", revival).status_code == 202
    assert tenant.agent.get(f"memories/{memory['id']}").json()["state"] == "forgotten"
    assert tenant.reviewer.post("memories/restore", {"ids": [memory["id"]]}).json()["restored"] == 1


def test_an_agent_does_not_change_what_a_user_stated(tenant: Tenant) -> None:
    stated = commit(tenant.agent, "The budget is 5000 euros.", provenance="user_stated")["memory"]
    derived = {"content": "The budget is 9 euros.", "supersedes": stated["id"]}
    assert tenant.agent.post("memories", derived).status_code == 202
    assert tenant.agent.patch(f"memories/{stated['id']}", {"content": "None."}).status_code == 202
    assert tenant.agent.get(f"memories/{stated['id']}").json() == stated | {
        "disputed": False, "conflicts": []
    }  # fmt: skip
    same_class = derived | {"provenance": "user_stated"}
    assert tenant.agent.post("memories", same_class).status_code == 201


def test_a_derived_memory_is_flagged_when_its_source_is_forgotten(tenant: Tenant) -> None:
    source = commit(tenant.agent, "Rita sings in a choir.")["memory"]
    summary = commit(tenant.agent, "Rita is musical.", derived_from=[source["id"]])["memory"]
    forget(tenant.agent, source)
    events = tenant.agent.get("events", {"object": summary["id"]}).json()["results"]
    flagged = next(event for event in events if event["type"] == "memory.source_forgotten")
    assert flagged["data"] == {"source": source["id"]}


def test_powers_are_not_digits(tenant: Tenant) -> None:
    commit(tenant.agent, "The hall has 10² m.")
    assert commit(tenant.agent, "The hall has 102 m.")["outcome"] != "duplicate"


def test_a_setting_that_a_release_dropped_breaks_nothing(tenant: Tenant) -> None:
    tenant.workspace.settings = {"old_knob": 3}
    tenant.workspace.save()
    assert commit(tenant.agent, "The hall is large.")["outcome"] == "created"


@pytest.mark.parametrize("name", ["Mars/Phobos", "../etc/passwd"])
def test_unknown_time_zones_are_refused(tenant: Tenant, name: str) -> None:
    answer = tenant.admin.patch("workspace/settings", {"time_zone": name})
    assert answer.status_code == 422
