"""The history of a question has the answers of memories that are not recalled any more."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Merge
from tests.conflicts.test_questions_api import (
    CANARY,
    LEAD,
    REFUNDS,
    TREASURER,
    commit,
    days_ago,
    detail,
    known,
)
from tests.conftest import Tenant

LAMPS = "When is the lamp room lit?"
BOARD = "The board decides about every refund."


def replaced(tenant: Tenant, content: str = TREASURER, answer: str = "the treasurer") -> str:
    """Commit what is replaced by the memory that is returned."""
    old = commit(tenant, content, (REFUNDS, answer), observed_at=days_ago(9))
    return commit(tenant, LEAD, (REFUNDS, "the lead"), observed_at=days_ago(5), supersedes=old)


def history(tenant: Tenant, **query: str) -> list[dict[str, Any]]:
    [row] = known(tenant)
    found: list[dict[str, Any]] = detail(tenant, row["id"], **query)["history"]
    return found


def states(tenant: Tenant, **query: str) -> list[tuple[str, str]]:
    return [(one["answer"], one["state"]) for one in history(tenant, **query)]


def set_fields(tenant: Tenant, memory: str, **fields: Any) -> None:
    with in_workspace(tenant.workspace):
        assert Memory.objects.filter(pk=memory).update(**fields) == 1


def forget(tenant: Tenant, *memories: str) -> None:
    answer = tenant.admin.post("memories/forget", {"ids": list(memories), "confirm": True})
    assert answer.status_code == 200, answer.content


def test_a_superseded_answer_is_shown_until_its_successor_was_observed(tenant: Tenant) -> None:
    new = replaced(tenant)
    holding, former = history(tenant)
    assert (holding["memory"], holding["state"], holding["until"]) == (new, "holds", None)
    assert (former["answer"], former["content"]) == ("the treasurer", TREASURER)
    assert (former["state"], former["source"]) == ("superseded", "written")
    assert (former["until"], former["replaced_by"]) == (holding["observed_at"], new)
    assert former["observed_at"] < former["until"]


@pytest.mark.parametrize("state", ["retired", "culled", "expired"])
def test_an_answer_without_a_successor_says_how_its_memory_ended(
    tenant: Tenant, state: str
) -> None:
    commit(tenant, LEAD, (REFUNDS, "the lead"), observed_at=days_ago(5))
    ended = timezone.now() - timedelta(days=2)
    old = commit(tenant, TREASURER, (REFUNDS, "the treasurer"), observed_at=days_ago(9))
    set_fields(tenant, old, **{"expires_at" if state == "expired" else f"{state}_at": ended})
    [_, former] = history(tenant)
    assert (former["state"], former["memory"], former["replaced_by"]) == (state, old, None)
    assert former["until"] == ended.isoformat().replace("+00:00", "Z")


def test_nothing_that_is_forgotten_or_erased_is_shown(tenant: Tenant) -> None:
    secret = f"{CANARY} decides about refunds."
    replaced(tenant, secret, CANARY)
    retired = commit(tenant, f"{CANARY} signs.", (REFUNDS, f"{CANARY} B"), observed_at=days_ago(8))
    set_fields(tenant, retired, retired_at=timezone.now())
    assert sum(CANARY in one["answer"] for one in history(tenant)) == 2
    former = [one["memory"] for one in history(tenant) if one["state"] != "holds"]
    forget(tenant, former[0])
    assert tenant.admin.delete(f"memories/{former[1]}").status_code == 204
    [row] = known(tenant)
    for query in ({}, {"as_of": days_ago(1)}):
        shown = tenant.admin.get(f"questions/{row['id']}", query)
        assert (shown.status_code, CANARY in shown.content.decode()) == (200, False)
        assert [one["state"] for one in shown.json()["history"]] == ["holds"]


def test_a_forgotten_successor_is_not_named(tenant: Tenant) -> None:
    commit(tenant, BOARD, (REFUNDS, "the board"), observed_at=days_ago(3))
    old = commit(tenant, TREASURER, (REFUNDS, "the treasurer"), observed_at=days_ago(9))
    gone = commit(
        tenant, f"{CANARY} decides.", (REFUNDS, CANARY), observed_at=days_ago(5), supersedes=old
    )
    forget(tenant, gone)
    [row] = known(tenant)
    shown = tenant.admin.get(f"questions/{row['id']}").content.decode()
    assert (CANARY in shown, gone in shown) == (False, False)
    assert (old, "superseded", None) in [
        (one["memory"], one["state"], one["replaced_by"]) for one in history(tenant)
    ]


def test_as_of_shows_what_was_former_then(tenant: Tenant) -> None:
    replaced(tenant)
    [row] = known(tenant)
    then = detail(tenant, row["id"], as_of=days_ago(7))["history"]
    assert [(one["answer"], one["state"]) for one in then] == [("the treasurer", "holds")]
    expected = [("the lead", "holds"), ("the treasurer", "superseded")]
    assert states(tenant, as_of=days_ago(4)) == states(tenant) == expected


def test_a_former_answer_that_was_given_later_is_not_shown_as_of_then(tenant: Tenant) -> None:
    commit(tenant, LEAD, (REFUNDS, "the lead"), observed_at=days_ago(9))
    later = commit(tenant, TREASURER, (REFUNDS, "the treasurer"), observed_at=days_ago(3))
    set_fields(tenant, later, retired_at=timezone.now() - timedelta(days=1))
    assert states(tenant, as_of=days_ago(4)) == [("the lead", "holds")]
    assert len(history(tenant)) == 2


def test_what_was_merged_then_and_split_later_is_no_former_answer(tenant: Tenant) -> None:
    commit(tenant, "Rosa lights the lamp room.", (LAMPS, "at dusk"), observed_at=days_ago(9))
    plain, finer = "The lamp room is lit.", "The lamp room is lit at 21:00."
    survivor = commit(tenant, plain, observed_at=days_ago(5))
    answer = {"question": LAMPS, "answer": "21:00"}
    made = tenant.agent.post("memories", {"content": finer, "answers": [answer]}).json()
    assert (made["outcome"], made["memory"]["id"]) == ("merged", survivor)
    merged_at = timezone.now()
    with in_workspace(tenant.workspace):
        body = {"observation_id": str(Merge.objects.get().observation_id)}
    assert tenant.reviewer.post(f"memories/{survivor}/split", body).status_code == 200
    assert states(tenant, as_of=merged_at.isoformat()) == [("at dusk", "holds")]
    assert len(history(tenant)) == 2


def test_a_question_without_a_present_answer_is_not_known(tenant: Tenant) -> None:
    old = commit(tenant, TREASURER, (REFUNDS, "the treasurer"), observed_at=days_ago(9))
    [row] = known(tenant)
    set_fields(tenant, old, retired_at=timezone.now())
    assert known(tenant) == []
    assert tenant.reader.get(f"questions/{row['id']}").status_code == 404


def test_a_hundred_former_answers_cost_the_queries_of_one(tenant: Tenant) -> None:
    replaced(tenant)
    [row] = known(tenant)

    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            assert tenant.reader.get(f"questions/{row['id']}").status_code == 200
        return len(caught)

    one = queries()
    rows = [
        {
            "content": f"Person {number} approves refunds of the kiosk {number}.",
            "answers": [{"question": REFUNDS, "answer": f"person {number}"}],
        }
        for number in range(99)
    ]
    assert tenant.agent.post("memories/batch", {"memories": rows}).status_code == 201
    with in_workspace(tenant.workspace):
        Memory.objects.filter(content__startswith="Person").update(retired_at=timezone.now())
    assert (queries(), len(history(tenant))) == (one, 61)


def test_other_workspaces_have_no_part_in_it(tenant: Tenant, neighbour: Tenant) -> None:
    replaced(neighbour)
    commit(tenant, LEAD, (REFUNDS, "the lead"), observed_at=days_ago(5))
    assert states(tenant) == [("the lead", "holds")]
