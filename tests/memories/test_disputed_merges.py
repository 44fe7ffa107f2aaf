"""Two memories of which people are asked which one holds are not merged into one."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from conflicts.models import Conflict
from engram.console.wording import words_for
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.core.claims import find_missing_claims
from memories.models import Memory
from memories.services.lifecycle.states import LIFECYCLE_FIELDS
from tests.conflicts.test_card_changes import PLACES
from tests.conftest import Tenant, build_tenant

Member = Callable[[str], Client]

OLD = "The night pump is set to 10 bar."
NEW = "The night pump is set to 20 bar."


def commit(tenant: Tenant, content: str, month: int = 1, **fields: Any) -> dict[str, Any]:
    said = {"content": content, "observed_at": f"2026-0{month}-05T09:00:00Z", **fields}
    answer = tenant.agent.post("memories", said)
    assert answer.status_code in {200, 201}, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def relate(tenant: Tenant, one: str, other: str, relation: str) -> dict[str, Any]:
    told = {"other": other, "relation": relation, "reason": ""}
    answer = tenant.agent.post(f"memories/{one}/relations", told)
    assert answer.status_code == 201, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def suggestions(tenant: Tenant, status: str = "") -> list[dict[str, Any]]:
    query = {"status": status} if status else {}
    found: list[dict[str, Any]] = tenant.reader.get("merge-suggestions", query).json()["results"]
    return found


def disputed(tenant: Tenant) -> tuple[str, str, str, str]:
    """Return two memories that are suggested as one, the suggestion, and the card about them."""
    one, other = commit(tenant, OLD)["memory"]["id"], commit(tenant, NEW, 2)["memory"]["id"]
    suggestion = relate(tenant, one, other, "same")["suggestion"]
    assert [row["id"] for row in suggestions(tenant)] == [suggestion]
    card = relate(tenant, one, other, "contradicts")["conflict"]
    return one, other, suggestion, card


def everything(tenant: Tenant) -> list[Any]:
    with in_workspace(tenant.workspace):
        memories = Memory.objects.order_by("pk").values_list(
            "pk", "content", "revision", *LIFECYCLE_FIELDS
        )
        cards = Conflict.objects.values_list("pk", "status", "is_lapsed", "version")
        return [*memories, *cards]


@pytest.mark.parametrize("keep", [None, 0, 1])
def test_accepting_a_pair_in_an_open_card_names_the_card_and_changes_nothing(
    tenant: Tenant, keep: int | None
) -> None:
    one, other, suggestion, card = disputed(tenant)
    before = everything(tenant)
    body = {} if keep is None else {"keep": (one, other)[keep]}
    refused = tenant.reviewer.post(f"merge-suggestions/{suggestion}/accept", body)
    assert (refused.status_code, card in refused.json()["detail"]) == (409, True)
    assert [error["message"] for error in refused.json()["errors"]] == [card]
    assert everything(tenant) == before


@pytest.mark.parametrize("status", ["open", "snoozed"])
@pytest.mark.parametrize("page", ["inbox", "gate"])
def test_the_pages_refuse_it_too(tenant: Tenant, page: str, status: str, member: Member) -> None:
    _, _, suggestion, card = disputed(tenant)
    if status == "snoozed":
        until = {"until": "2040-01-01T00:00:00Z"}
        assert tenant.reviewer.post(f"conflicts/{card}/snooze", until).status_code == 200
    before = everything(tenant)
    staff = member("reviewer")
    route, field = {
        "inbox": (f"/console/inbox/suggestions/{suggestion}/", "action"),
        "gate": (f"/console/gate/suggestions/{suggestion}/", "answer"),
    }[page]
    answer = staff.post(route, {field: "accept"}, follow=True)
    assert card in answer.content.decode()
    assert everything(tenant) == before


def test_a_suggestion_is_withdrawn_while_a_card_asks_about_the_pair(tenant: Tenant) -> None:
    _, _, suggestion, card = disputed(tenant)
    assert suggestions(tenant) == []
    [lapsed] = suggestions(tenant, "lapsed")
    assert (lapsed["id"], lapsed["conflicts"]) == (suggestion, [card])
    assert tenant.reader.get(f"merge-suggestions/{suggestion}").json() == lapsed | {"merges": []}
    inbox = tenant.reviewer.get("inbox").json()
    assert {row["name"]: row["count"] for row in inbox["sources"]}["suggestions"] == 0


@pytest.mark.parametrize(
    ("verdict", "is_offered"), [("both_valid", True), ("dismiss", True), ("yes", False)]
)
def test_it_is_offered_again_once_the_card_says_that_nothing_contradicts(
    tenant: Tenant, verdict: str, is_offered: bool
) -> None:
    _, _, suggestion, card = disputed(tenant)
    assert (
        tenant.reviewer.post(f"conflicts/{card}/resolve", {"verdict": verdict}).status_code == 200
    )
    assert [row["id"] for row in suggestions(tenant)] == [suggestion] * is_offered
    assert tenant.reviewer.post(f"conflicts/{card}/undo", {}).status_code == 200
    assert suggestions(tenant) == []
    if is_offered:
        tenant.reviewer.post(f"conflicts/{card}/resolve", {"verdict": verdict})
        merged = tenant.reviewer.post(f"merge-suggestions/{suggestion}/accept", {})
        assert (merged.status_code, merged.json()["status"]) == (200, "accepted")


def test_a_pair_in_another_card_each_is_merged_as_ever(tenant: Tenant) -> None:
    one, other = commit(tenant, OLD)["memory"]["id"], commit(tenant, NEW, 2)["memory"]["id"]
    third = commit(tenant, "Nobody ever touches anything after dark.", 3)["memory"]["id"]
    suggestion = relate(tenant, one, other, "same")["suggestion"]
    relate(tenant, one, third, "contradicts")
    assert [row["id"] for row in suggestions(tenant)] == [suggestion]
    assert tenant.reviewer.post(f"merge-suggestions/{suggestion}/accept", {}).status_code == 200


def test_the_same_said_of_a_disputed_pair_is_noted_with_its_card(tenant: Tenant) -> None:
    one, other = commit(tenant, OLD)["memory"]["id"], commit(tenant, NEW, 2)["memory"]["id"]
    card = relate(tenant, one, other, "contradicts")["conflict"]
    told = relate(tenant, one, other, "same")
    assert (told["outcome"], told["conflict"], told["suggestion"]) == ("disputed", card, None)
    assert suggestions(tenant, "all") == []


def test_keeping_a_disputed_pair_apart_is_possible(tenant: Tenant) -> None:
    _, _, suggestion, card = disputed(tenant)
    answer = tenant.reviewer.post(f"merge-suggestions/{suggestion}/reject", {})
    assert (answer.status_code, answer.json()["status"]) == (200, "rejected")
    assert tenant.reader.get(f"conflicts/{card}").json()["status"] == "open"


def test_the_gate_rewords_no_side_of_an_open_card(tenant: Tenant) -> None:
    one, other, _, card = disputed(tenant)
    same = commit(tenant, "At night the pump is set to 20 bar.", 3)
    finer = commit(tenant, "The night pump is set to 20 bar by the crew on Mondays.", 4)
    assert same["outcome"] in {"merged", "created", "suggested", "kept_apart"}
    assert finer["outcome"] != "merged"
    texts = {i: tenant.reader.get(f"memories/{i}").json()["content"] for i in (one, other)}
    assert texts == {one: OLD, other: NEW}
    asked = tenant.reader.get(f"conflicts/{card}").json()
    assert asked["status"] == "open"
    assert {one, other} <= {m["id"] for m in asked["memories"]}


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("The {} contract ends on 31 March 2027.", "suggested"),  # says more
        ("In March 2027 the {} contract ends.", "merged"),  # says the same
    ],
)
def test_a_commit_rewords_no_disputed_memory(tenant: Tenant, said: str, outcome: str) -> None:
    text = "The {} contract ends in March 2027."
    free = commit(tenant, text.format("rent"))["memory"]["id"]
    assert commit(tenant, said.format("rent"), 2)["outcome"] == "merged"  # else this shows nothing
    was_reworded = tenant.reader.get(f"memories/{free}").json()["content"] != text.format("rent")
    assert was_reworded == (outcome == "suggested")
    one = commit(tenant, text.format("power"))["memory"]["id"]
    other = commit(tenant, "Nobody here buys electricity.", 2)["memory"]["id"]
    card = relate(tenant, one, other, "contradicts")["conflict"]
    assert commit(tenant, said.format("power"), 3)["outcome"] == outcome
    assert tenant.reader.get(f"memories/{one}").json()["content"] == text.format("power")
    assert tenant.reader.get(f"conflicts/{card}").json()["status"] == "open"


@pytest.mark.parametrize(
    ("kept", "lost", "left_out"),
    [
        (OLD, OLD, ()),
        (OLD, NEW, (NEW,)),
        ("The pump is set to 10 bar. It is red.", "The pump is set to 10 bar.", ()),
        ("The pump is set to 10 bar.", "The pump is set to 10 bar. It is red.", ("It is red.",)),
        ("Billing runs on PostgreSQL 17.2.", "Billing runs on PostgreSQL 17.", ()),
    ],
)
def test_what_a_wording_leaves_unsaid(kept: str, lost: str, left_out: tuple[str, ...]) -> None:
    found = find_missing_claims(kept, lost)
    assert [text.rstrip(".") for text in found] == [text.rstrip(".") for text in left_out]


def test_a_merge_says_first_what_it_drops_and_prefers_the_later_value(
    tenant: Tenant, member: Member
) -> None:
    one, other = commit(tenant, OLD)["memory"]["id"], commit(tenant, NEW, 2)["memory"]["id"]
    suggestion = relate(tenant, one, other, "same")["suggestion"]
    row = tenant.reader.get(f"merge-suggestions/{suggestion}").json()
    assert [(m["keep"], m["is_default"]) for m in row["merges"]] == [(one, False), (other, True)]
    assert ["20 bar" in row["merges"][0]["drops"][0], "10 bar" in row["merges"][1]["drops"][0]] == [
        True, True,
    ]  # fmt: skip
    staff = member("reviewer")
    for page in (f"/console/inbox/?item=suggestions:{suggestion}", "/console/gate/"):
        shown = staff.get(page).content.decode()
        assert "would be dropped" in shown
    assert tenant.reviewer.post(f"merge-suggestions/{suggestion}/accept", {}).status_code == 200
    assert tenant.reader.get(f"memories/{one}").json()["content"] == NEW


def test_the_page_of_a_suggestion_that_nobody_is_asked_says_what_happened(
    tenant: Tenant, member: Member
) -> None:
    one, _, suggestion, card = disputed(tenant)
    staff = member("reviewer")

    def heading() -> str:
        page = staff.get(f"/console/inbox/?item=suggestions:{suggestion}").content.decode()
        found = re.search(r'<h2 id="decide-title">(.*?)</h2>', page)
        assert found is not None
        return found[1]

    assert heading() == "Withdrawn for now"
    tenant.reviewer.post(f"conflicts/{card}/resolve", {"verdict": "both_valid"})
    assert heading() == "Your answer"
    tenant.reviewer.post("memories/forget", {"ids": [one], "confirm": True})
    assert heading() == "Withdrawn"
    tenant.reviewer.post("memories/restore", {"ids": [one]})
    tenant.reviewer.post(f"merge-suggestions/{suggestion}/reject")
    assert heading() == "Kept apart"


def test_a_card_that_closes_by_itself_says_why(tenant: Tenant, member: Member) -> None:
    one, _, _, card = disputed(tenant)
    tenant.reviewer.post("memories/forget", {"ids": [one], "confirm": True})
    closed = tenant.reader.get(f"conflicts/{card}").json()
    assert closed["status"] == "resolved"
    assert closed["resolution"]["note"] == "Fewer than two of its memories are still recalled."
    with in_workspace(tenant.workspace):
        told = Event.objects.filter(type="conflict.resolved", object_id=card).first()
        assert told is not None
        assert (told.data["lapsed"], told.data["reason"]) == (True, "gone")
    page = member("reviewer").get(f"/console/conflicts/{card}/").content.decode()
    assert "Fewer than two of its memories are still recalled." in page
    tenant.reviewer.post("memories/restore", {"ids": [one]})
    with in_workspace(tenant.workspace):
        assert Conflict.objects.get(pk=card).lapse_reason == ""


def test_a_card_that_a_wider_one_takes_over_says_so(tenant: Tenant) -> None:
    ids = [commit(tenant, text)["memory"]["id"] for text in PLACES[:4]]

    def report(*named: str) -> str:
        answer = tenant.reviewer.post("conflicts", {"memory_ids": list(named), "note": ""})
        assert answer.status_code == 201, answer.json()
        return str(answer.json()["id"])

    first, second = report(*ids[:2]), report(*ids[2:])
    assert first != second
    wider = report(*ids)
    closed = ({first, second} - {wider}).pop()
    note = tenant.reader.get(f"conflicts/{closed}").json()["resolution"]["note"]
    assert note == "A wider card asks about all of its memories."
    with in_workspace(tenant.workspace):
        told = Event.objects.get(type="conflict.resolved", object_id=closed)
    assert (told.data["reason"], told.data["by"]) == ("absorbed", wider)
    assert words_for(told.type, told.data).endswith("a wider one asks about its memories")


def test_accepting_beside_a_report_has_one_winner(transactional_db: None) -> None:
    """Either the two are merged and no card asks, or a card asks and the two stay two."""
    tenant = build_tenant("busy")
    for turn in range(4):
        texts = [f"Valve {turn} is set to {value} bar." for value in (10, 20)]
        one, other = (commit(tenant, text)["memory"]["id"] for text in texts)
        suggestion = relate(tenant, one, other, "same")["suggestion"]
        barrier = Barrier(2)

        def accept(suggestion: str = suggestion, barrier: Barrier = barrier) -> int:
            barrier.wait()
            try:
                path = f"merge-suggestions/{suggestion}/accept"
                return int(tenant.reviewer.post(path, {}).status_code)
            finally:
                connections.close_all()

        def report(pair: tuple[str, str] = (one, other), barrier: Barrier = barrier) -> int:
            barrier.wait()
            try:
                said = {"memory_ids": list(pair), "note": ""}
                return int(tenant.admin.post("conflicts", said).status_code)
            finally:
                connections.close_all()

        with ThreadPoolExecutor(2) as pool:
            accepted, reported = (
                done.result() for done in (pool.submit(accept), pool.submit(report))
            )
        states = [tenant.reader.get(f"memories/{i}").json()["state"] for i in (one, other)]
        if accepted == 200:
            assert (states, reported in {409, 422}) == (["active", "superseded"], True)
        else:
            assert (accepted, reported, states) == (409, 201, ["active", "active"])
