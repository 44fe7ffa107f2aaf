"""Nobody is asked the same thing twice: cards, pairs and decisions as they meet the detective.

Most tests are named after the pitfalls 23 and 24 of the census that they pin.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.db import connections
from django.utils import timezone

from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding
from conflicts.models import Conflict, ConflictMember, ConflictPair
from conflicts.services.cards.file import file_findings
from conflicts.services.detection.detect import detect_due
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant, build_tenant

LIMIT = "The API rate limit is {} requests per second."


def commit(tenant: Tenant, content: str, month: int = 1, **fields: Any) -> str:
    said = {"content": content, "observed_at": f"2026-0{month}-05T09:00:00Z", **fields}
    answer = tenant.agent.post("memories", said)
    assert answer.status_code in {200, 201}, answer.json()
    return str(answer.json()["memory"]["id"])


def detect(tenant: Tenant) -> None:
    runs = detect_due(tenant.workspace, clock=timezone.now)
    assert {run.status for run in runs} <= {"done"}


def cards(tenant: Tenant, status: str | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tenant.reader.get(
        "conflicts", {"status": status} if status else {}
    ).json()["results"]
    return found


def members(card: dict[str, Any]) -> list[str]:
    return [memory["id"] for memory in card["memories"]]


def decide(tenant: Tenant, card: dict[str, Any], **body: Any) -> None:
    answer = tenant.reviewer.post(f"conflicts/{card['id']}/resolve", body)
    assert answer.status_code == 200, answer.json()


def patch(tenant: Tenant, memory: str, content: str) -> None:
    assert tenant.reviewer.patch(f"memories/{memory}", {"content": content}).status_code == 200


def disagree(tenant: Tenant) -> tuple[str, str, dict[str, Any]]:
    low = commit(tenant, LIMIT.format(1000), 1)
    high = commit(tenant, LIMIT.format(5000), 2)
    detect(tenant)
    [card] = cards(tenant)
    return low, high, card


def pairs_of(tenant: Tenant) -> list[tuple[UUID, UUID]]:
    with in_workspace(tenant.workspace):
        return sorted(ConflictPair.objects.values_list("lineage_low", "lineage_high"))


@pytest.mark.parametrize("is_reversed", [False, True])
def test_pair_order_does_not_matter(tenant: Tenant, is_reversed: bool) -> None:
    low, high, card = disagree(tenant)
    named = [high, low] if is_reversed else [low, high]
    tenant.agent.post("conflicts", {"memory_ids": named})
    [same] = cards(tenant)
    assert (same["id"], members(same)) == (card["id"], [low, high])
    assert pairs_of(tenant) == [(min(UUID(low), UUID(high)), max(UUID(low), UUID(high)))]


@pytest.mark.parametrize("is_at_once", [False, True])
def test_n_disagreeing_numbers_are_one_card(tenant: Tenant, is_at_once: bool) -> None:
    ids = []
    for month, value in enumerate([1000, 5000, 800, 300, 70, 9], start=1):
        ids.append(commit(tenant, LIMIT.format(value), month))
        if not is_at_once:
            detect(tenant)
    detect(tenant)
    [card] = cards(tenant)
    assert members(card) == ids
    assert len(pairs_of(tenant)) == len(list(combinations(ids, 2)))
    # One verdict answers them all: none of the values comes back as another card.
    decide(tenant, card, verdict="keep", keep=ids[-1:])
    tenant.reviewer.post("conflicts/detect", {})
    detect(tenant)
    assert [c["status"] for c in cards(tenant)] == ["resolved"]


def test_three_fact_arc_stays_whole_and_ordered(tenant: Tenant) -> None:
    # Written down in another order than that of the story, and found bit by bit, last things first.
    back = commit(tenant, "Guests of the Gasthof park behind the barn as ever.", 3)
    first = commit(tenant, "The lot behind the barn is where cars go.", 1)
    moved = commit(tenant, "Visitors leave their vehicles at the station by now.", 2)
    found = [[back, first], [back, moved, first], [moved, back]]
    answers = [tenant.agent.post("conflicts", {"memory_ids": ids}) for ids in found]
    assert len({answer.json()["id"] for answer in answers}) == 1
    detect(tenant)
    [card] = cards(tenant)
    assert members(card) == [first, moved, back]
    assert [m["position"] for m in card["memories"]] == [0, 1, 2]
    assert len(pairs_of(tenant)) == 3


def test_decided_conflict_does_not_reappear_for_a_new_revision_of_the_same_claim(
    tenant: Tenant,
) -> None:
    low, _, card = disagree(tenant)
    decide(tenant, card, verdict="both_valid")
    patch(tenant, low, LIMIT.format("1,000"))
    tenant.reviewer.post("conflicts/detect", {})
    detect(tenant)
    assert [c["id"] for c in cards(tenant)] == [card["id"]]


def test_dismissed_conflict_does_not_reappear_on_the_next_run(tenant: Tenant) -> None:
    _, _, card = disagree(tenant)
    decide(tenant, card, verdict="dismiss")
    for _ in range(2):
        tenant.reviewer.post("conflicts/detect", {})
        detect(tenant)
    assert [(c["id"], c["status"]) for c in cards(tenant)] == [(card["id"], "dismissed")]


@pytest.mark.parametrize("verdict", ["both_valid", "dismiss"])
def test_decided_conflict_reopens_linked_when_a_value_changes_again(
    tenant: Tenant, verdict: str
) -> None:
    low, high, card = disagree(tenant)
    decide(tenant, card, verdict=verdict)
    patch(tenant, low, LIMIT.format(700))
    detect(tenant)
    [again] = cards(tenant, "open")
    assert (again["reopened_from"], again["decided_before"]) == (card["id"], None)
    assert members(again) == [low, high]
    assert len(pairs_of(tenant)) == 1
    # Deciding that one holds until a claim changes once more, and the link is to the newest.
    decide(tenant, again, verdict="both_valid")
    tenant.reviewer.post("conflicts/detect", {})
    detect(tenant)
    assert cards(tenant, "open") == []
    patch(tenant, high, LIMIT.format(9000))
    detect(tenant)
    assert [c["reopened_from"] for c in cards(tenant, "open")] == [again["id"]]


def test_a_rejected_value_said_anew_is_stored_and_asked_about_linked(tenant: Tenant) -> None:
    low, high, card = disagree(tenant)
    decide(tenant, card, verdict="keep", keep=[high])
    answer = tenant.agent.post(
        "memories", {"content": LIMIT.format(1000), "observed_at": "2026-04-01T00:00:00Z"}
    ).json()
    again = answer["memory"]["id"]
    assert (answer["outcome"] in {"created", "kept_apart"}, again != low) == (True, True)
    detect(tenant)
    [asked] = cards(tenant, "open")
    assert (asked["reopened_from"], asked["decided_before"]) == (None, card["id"])
    assert members(asked) == [high, again]
    states = {m["id"]: m["state"] for m in asked["memories"]}
    assert states == {high: "active", again: "active"}
    assert tenant.reader.get(f"memories/{low}").json()["state"] == "superseded"


def test_a_value_that_an_answer_replaced_said_anew_is_asked_about_linked(tenant: Tenant) -> None:
    _, _, card = disagree(tenant)
    decide(tenant, card, verdict="none_valid", answer=LIMIT.format(2000))
    detect(tenant)
    assert cards(tenant, "open") == []
    again = commit(tenant, LIMIT.format(1000), 6, agent="another")
    commit(tenant, "The canteen opens at noon.", 7)
    detect(tenant)
    [asked] = cards(tenant, "open")
    assert (again in members(asked), asked["decided_before"]) == (True, card["id"])


def test_a_value_nobody_rejected_opens_an_unlinked_card(tenant: Tenant) -> None:
    _, high, card = disagree(tenant)
    decide(tenant, card, verdict="keep", keep=[high])
    commit(tenant, LIMIT.format(40), 6)
    detect(tenant)
    [asked] = cards(tenant, "open")
    assert (asked["reopened_from"], asked["decided_before"]) == (None, None)


def test_a_verdict_taken_back_links_nothing(tenant: Tenant) -> None:
    _, high, card = disagree(tenant)
    decide(tenant, card, verdict="keep", keep=[high])
    assert tenant.reviewer.post(f"conflicts/{card['id']}/undo").status_code == 200
    third = commit(tenant, LIMIT.format(40), 6)
    detect(tenant)
    [asked] = cards(tenant)
    assert (asked["id"], asked["status"], third in members(asked)) == (card["id"], "open", True)


def test_an_erased_member_leaves_no_verdict_behind(tenant: Tenant) -> None:
    low, high, card = disagree(tenant)
    decide(tenant, card, verdict="both_valid")
    assert tenant.admin.delete(f"memories/{low}").status_code == 204
    other = commit(tenant, LIMIT.format(40), 6)
    detect(tenant)
    [asked] = cards(tenant, "open")
    assert (members(asked), asked["decided_before"]) == ([high, other], None)


def test_other_workspaces_decisions_do_not_count(tenant: Tenant, neighbour: Tenant) -> None:
    _, _, card = disagree(neighbour)
    decide(neighbour, card, verdict="dismiss")
    _, _, own = disagree(tenant)
    assert (own["status"], own["reopened_from"], own["decided_before"]) == ("open", None, None)


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that several connections see."""
    return build_tenant("busy")


def test_two_concurrent_runs_file_one_row(shared_tenant: Tenant) -> None:
    """Both have read the story already when they file, as when a lease was taken over."""
    tenant = shared_tenant
    for turn in range(6):
        ids = [commit(tenant, f"Crate {turn} holds {what}.") for what in ("cedar", "glass", "tin")]
        both_ways = (tuple(ids[:2]), tuple(reversed(ids)))
        barrier = Barrier(2)

        def file(fact_ids: tuple[str, ...], barrier: Barrier = barrier) -> None:
            finding = Finding(
                "ambiguity",
                fact_ids,
                fact_ids[:1],
                "Is it?",
                "r",
                "low",
                0.5,
                None,
                ("ambiguity.choice",),
            )
            barrier.wait()
            try:
                with in_workspace(tenant.workspace):
                    file_findings([finding], Comparisons(), detected_by="rules", now=timezone.now())
            finally:
                connections.close_all()

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(file, both_ways))
        with in_workspace(tenant.workspace):
            rows = ConflictMember.objects.filter(memory__in=ids)
            [card] = Conflict.objects.filter(pk__in=rows.values("conflict_id"))
            assert ConflictPair.objects.filter(conflict=card).count() == 3
            assert [str(m.memory_id) for m in card.members.all()] == ids
            opened = Event.objects.filter(type="conflict.opened", object_id=str(card.id))
            assert opened.count() == 1
