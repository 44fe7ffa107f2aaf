"""Recall compares a query with the questions that memories answer, and with nothing hidden."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import MemoryAnswer
from memories.services.index.answers import embed_questions, mark_due
from tests.conftest import Tenant
from tests.memories.test_plans import Plans
from tests.memories.test_recall_api import contents, recall, recomputed

ASKED = "How long do we keep customer recordings?"
QUERY = "For how long are recordings of customers kept?"
TOLD = "Ninety days, agreed with Mirela."
OTHERS = ("Our customers ask for vinyl.", "Ninety chairs were ordered by Oskar.")


def commit(tenant: Tenant, content: str, *questions: str, **fields: Any) -> str:
    answers = [{"question": question, "answer": "ninety days"} for question in questions]
    body = {"content": content, "answers": answers, **fields}
    memory_id: str = tenant.agent.post("memories", body).json()["memory"]["id"]
    return memory_id


def fill(tenant: Tenant, **fields: Any) -> str:
    """Store others, and a memory that only its question relates to the query; return its id."""
    for content in OTHERS:
        commit(tenant, content)
    memory_id = commit(tenant, TOLD, "Who agreed to the retention?", ASKED, **fields)
    embed_questions(tenant.workspace)
    return memory_id


def why(body: dict[str, Any], content: str) -> dict[str, Any]:
    return {r["memory"]["content"]: r["explain"] for r in body["results"]}[content]


def test_the_nearest_question_raises_a_memory_and_is_shown(tenant: Tenant) -> None:
    fill(tenant)
    with in_workspace(tenant.workspace):
        mark_due("another model")
    before = recall(tenant, QUERY, explain=True)
    assert why(before, TOLD)["question"] is None
    assert why(before, TOLD)["nearest_question"] is None
    assert contents(before)[0] == OTHERS[0]
    embed_questions(tenant.workspace)
    after = recall(tenant, QUERY, explain=True)
    shown = why(after, TOLD)
    assert shown["nearest_question"] == ASKED
    assert shown["question"] > 0.8
    assert shown["own"] == pytest.approx(0.6 * shown["question"] ** 1.5)
    assert contents(after)[0] == TOLD
    assert contents(recall(tenant, QUERY, min_score="auto"))[0] == TOLD
    for result in after["results"]:
        assert recomputed(result["explain"]) == pytest.approx(result["score"], abs=1e-9)
    assert why(after, OTHERS[0])["question"] is None


def test_why_not_shows_the_question(tenant: Tenant) -> None:
    memory_id = fill(tenant)
    body = tenant.reader.get(f"memories/{memory_id}/why-not?query={QUERY}").json()
    assert body["explain"]["nearest_question"] == ASKED


def test_questions_of_other_workspaces_raise_nothing(tenant: Tenant, neighbour: Tenant) -> None:
    fill(neighbour)
    commit(tenant, TOLD)
    [found] = recall(tenant, QUERY, explain=True)["results"]
    assert (found["explain"]["question"], found["explain"]["nearest_question"]) == (None, None)


@pytest.mark.parametrize("how", ["forgotten", "erased", "superseded", "expired", "out of scope"])
def test_questions_of_hidden_memories_find_nothing(tenant: Tenant, how: str) -> None:
    soon = timezone.now() + timedelta(seconds=1)
    fields: dict[str, Any] = {"expires_at": soon.isoformat()} if how == "expired" else {}
    memory_id = fill(tenant, scope="support", **fields)
    filters = {"scope": "other"} if how == "out of scope" else {}
    if how == "forgotten":
        tenant.agent.post("memories/forget", {"ids": [memory_id], "confirm": True})
    elif how == "erased":
        assert tenant.admin.delete(f"memories/{memory_id}").status_code == 204
    elif how == "superseded":
        commit(tenant, "Recordings are shredded.", supersedes=memory_id)
    elif how == "expired":
        with in_workspace(tenant.workspace), connection.cursor() as cursor:
            past = timezone.now() - timedelta(hours=1)
            cursor.execute(
                "UPDATE memories_memory SET expires_at = %s WHERE id = %s", [past, memory_id]
            )
    body = recall(tenant, QUERY, explain=True, **filters)
    assert TOLD not in contents(body)
    assert all(r["explain"]["nearest_question"] != ASKED for r in body["results"])


def test_a_question_that_was_taken_away_no_longer_counts(tenant: Tenant) -> None:
    memory_id = fill(tenant)
    answer = tenant.agent.patch(f"memories/{memory_id}", {"answers": []})
    assert answer.status_code == 200, answer.json()
    assert why(recall(tenant, QUERY, explain=True), TOLD)["question"] is None


def test_no_question_counts_as_of_a_moment_before(tenant: Tenant) -> None:
    fill(tenant)
    body = recall(tenant, QUERY, explain=True, as_of=timezone.now().isoformat())
    assert why(body, TOLD)["question"] is None


def test_questions_cost_no_query_and_are_read_by_index(tenant: Tenant) -> None:
    fill(tenant)
    recall(tenant, QUERY)  # what a process reads once
    plans = Plans()
    with CaptureQueriesContext(connection) as few:
        recall(tenant, "customer recordings kept")
    for number in range(40):
        commit(tenant, f"Item {number} of the list is {number * 7}.", f"Which is item {number}?")
    embed_questions(tenant.workspace)
    with CaptureQueriesContext(connection) as many:
        recall(tenant, "recordings kept of customers")
    assert len(many) == len(few)
    with in_workspace(tenant.workspace):
        assert MemoryAnswer.objects.exclude(embedding=None).count() == 42
    with connection.execute_wrapper(plans):
        recall(tenant, "kept recordings")
    scans = [n for n in plans.nodes if n.get("Relation Name") == "memories_memoryanswer"]
    [scan] = [n for n in scans if "memories_memory.id" in n.get("Index Cond", "")]
    assert scan["Index Name"] == "answer_of_memory"
    assert f"'{tenant.workspace.id}'" in scan["Filter"]
