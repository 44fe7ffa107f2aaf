"""A rollback reads revisions, observations and answers of all memories at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.conftest import Caller, Tenant, issue_agent


def told(question: str) -> dict[str, Any]:
    return {"answers": [{"question": question, "answer": "jam"}]}


def repeats(tenant: Tenant, mallory: Caller, number: int, place: str) -> None:
    """Repeat memories of others with answers of one's own."""
    for n in range(number):
        body = {"content": f"Stall {n} sells jam.", "scope": place}
        assert tenant.agent.post("memories", body | told("What is sold?")).status_code == 201
        assert mallory.post("memories", body | told("What is bought?")).status_code == 200


def patches(tenant: Tenant, mallory: Caller, number: int, place: str) -> None:
    """Change the answers of memories of others."""
    for n in range(number):
        body = {"content": f"Stall {n} sells jam.", "scope": place}
        memory = tenant.agent.post("memories", body | told("What is sold?")).json()["memory"]
        done = mallory.patch(f"memories/{memory['id']}", told("What is bought?"))
        assert done.status_code == 200


def is_repeated(tenant: Tenant, mallory: Caller, number: int, place: str) -> None:
    """Write memories that others repeat with answers of their own."""
    for n in range(number):
        body = {"content": f"Stall {n} sells jam.", "scope": place}
        assert mallory.post("memories", body | told("What is bought?")).status_code == 201
        assert tenant.agent.post("memories", body | told("What is sold?")).status_code == 200


def rolled_back(
    tenant: Tenant, does: Callable[..., None], number: int, **sent: Any
) -> tuple[dict[str, Any], list[str]]:
    """Return the answer to a rollback of so many writes, and its queries."""
    name = f"mallory {number}"
    mallory, since = issue_agent(tenant.workspace, name), timezone.now().isoformat()
    does(tenant, mallory, number, f"market/{number}")
    [key] = [row["id"] for row in tenant.admin.get("keys").json()["results"] if row["name"] == name]
    with CaptureQueriesContext(connection) as caught:
        answer = tenant.admin.post("memories/rollback", {"since": since, "key_id": key, **sent})
    assert answer.status_code == 200, answer.json()
    return answer.json(), [query["sql"] for query in caught.captured_queries]


@pytest.fixture(autouse=True)
def gate_off(tenant: Tenant) -> None:
    """Let statements that differ in a number be memories of their own."""
    tenant.admin.patch("workspace/settings", {"gate_policy": "off"})


@pytest.mark.parametrize("does", [repeats, patches, is_repeated])
def test_a_preview_of_many_costs_the_queries_of_one(
    tenant: Tenant, does: Callable[..., None]
) -> None:
    one, queries_of_one = rolled_back(tenant, does, 1)
    ten, queries_of_ten = rolled_back(tenant, does, 10)
    assert [would["would_reword"] + len(would["kept"]) for would in (one, ten)] == [1, 10]
    assert len(queries_of_ten) == len(queries_of_one)


@pytest.mark.parametrize("does", [repeats, patches])
def test_a_rollback_reads_and_writes_answers_of_many_as_of_one(
    tenant: Tenant, does: Callable[..., None]
) -> None:
    done: dict[int, list[str]] = {}
    for number in (1, 10):
        answer, queries = rolled_back(tenant, does, number, confirm=True)
        assert answer["reworded"] == number
        done[number] = [sql for sql in queries if "memories_memoryanswer" in sql]
        shown = tenant.reader.get("memories", {"scope": f"market/{number}"}).json()["results"]
        left = [[one["question"] for one in row["answers"]] for row in shown]
        assert left == [["What is sold?"]] * number
    assert len(done[10]) == len(done[1])
