"""Contradictions reported from the memories' admin: the same cards, and the reporter is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from psycopg.errors import DeadlockDetected

from engram.kernel.collisions import AGAIN
from tests.conftest import Tenant

Member = Callable[[str], Client]
MEMORIES = "/admin/memories/memory/"
BARN = "Guests park behind the barn."
YARD = "The yard in front is where visitors leave their cars."


def commit(tenant: Tenant, content: str) -> dict[str, Any]:
    memory: dict[str, Any] = tenant.agent.post("memories", {"content": content}).json()["memory"]
    return memory


def send(client: Client, action: str, *ids: str, **body: str) -> str:
    """Send an action of the list and return what the page says."""
    form = {"action": action, "_selected_action": ids, "select_across": "0", **body}
    html = client.post(MEMORIES, form, follow=True).content.decode()
    return re.sub(r"\s+", " ", html)


def cards(tenant: Tenant) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tenant.reader.get("conflicts").json()["results"]
    return found


def test_ticked_memories_become_a_card_and_the_reporter_is_told(
    tenant: Tenant, member: Member
) -> None:
    ids = [commit(tenant, content)["id"] for content in (BARN, YARD)]
    client = member("reviewer")
    asked = send(client, "report_contradiction", *ids)
    assert "Do these 2 memories contradict each other?" in asked
    assert cards(tenant) == []
    said = send(client, "report_contradiction", *ids, confirmed="yes", note="<b>Which?</b>")
    [card] = cards(tenant)
    assert (card["detected_by"], card["reasoning"]) == (["person"], "<b>Which?</b>")
    assert f'A card asks which of them holds. <a href="/console/conflicts/{card["id"]}/' in said
    again = send(client, "report_contradiction", *ids, confirmed="yes")
    assert "A card asks about these already" in again
    tenant.reviewer.post(f"conflicts/{card['id']}/resolve", {"verdict": "dismiss"})
    decided = send(client, "report_contradiction", *ids, confirmed="yes")
    assert "People have decided about these memories already." in decided
    assert len(cards(tenant)) == 1


def test_one_memory_alone_contradicts_nothing(tenant: Tenant, member: Member) -> None:
    told = send(member("reviewer"), "report_contradiction", commit(tenant, BARN)["id"])
    assert "Tick the memories that contradict each other" in told


def test_what_is_wrong_stays_until_somebody_decides(tenant: Tenant, member: Member) -> None:
    wrong = commit(tenant, BARN)
    client = member("reviewer")
    assert "This is wrong" in client.get(f"/console/memories/{wrong['id']}/").content.decode()
    assert "What is right instead?" in send(client, "report_wrong", wrong["id"], confirmed="yes")
    assert cards(tenant) == []
    right = "Guests park in the new garage."
    send(client, "report_wrong", wrong["id"], confirmed="yes", note=right)
    [card] = cards(tenant)
    told = [(m["content"], m["provenance"], m["state"]) for m in card["memories"]]
    assert told == [
        (BARN, "assistant_derived", "active"),
        (right, "user_stated", "active"),
    ]
    assert card["yes_keeps"] == [card["memories"][1]["id"]]
    assert "already" in send(client, "report_wrong", wrong["id"], confirmed="yes", note=BARN)


@pytest.mark.parametrize("action", ["report_contradiction", "report_wrong"])
def test_readers_report_nothing(tenant: Tenant, member: Member, action: str) -> None:
    one, other = (commit(tenant, content)["id"] for content in (BARN, YARD))
    form = {"action": action, "_selected_action": [one, other], "confirmed": "yes", "note": "x"}
    assert member("reader").post(MEMORIES, form).status_code == 403
    assert cards(tenant) == []


def test_memories_of_another_workspace_cannot_be_ticked(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    mine = commit(tenant, BARN)["id"]
    foreign = commit(neighbour, YARD)["id"]
    send(member("reviewer"), "report_contradiction", mine, foreign, confirmed="yes")
    assert (cards(tenant), cards(neighbour)) == ([], [])


def test_two_writers_that_met_are_told_to_try_again(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [commit(tenant, content)["id"] for content in (BARN, YARD)]

    def collide(*_: Any, **__: Any) -> Any:
        raise OperationalError from DeadlockDetected()

    monkeypatch.setattr("engram.console.admin.report", collide)
    said = send(member("reviewer"), "report_contradiction", *ids, confirmed="yes")
    assert AGAIN in said
