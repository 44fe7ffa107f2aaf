"""The first page of questions is read from the newest memories, and is that of all of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.services.questions import newest
from conflicts.services.questions.select import Wanted, select_first, select_questions
from engram.kernel.inserting import insert
from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer
from memories.models import Memory
from memories.services.lifecycle.answers import answer_rows
from tests.conftest import Tenant
from tests.memories.scale import clustered, fill
from tests.memories.test_plans import Plans

TIES = 3  # memories of one moment


def answer(tenant: Tenant, number: int, *, questions: int) -> None:
    """Store memories, some at one moment, which answer questions in turn."""
    ids = fill(tenant.workspace, clustered(number, seed=1), words=6, seed=0)
    now = timezone.now()
    with in_workspace(tenant.workspace):
        memories = list(Memory.objects.filter(pk__in=ids).order_by("pk"))
        for n, memory in enumerate(memories):
            memory.observed_at = now - timedelta(minutes=number - n // TIES)
        Memory.objects.bulk_update(memories, ["observed_at"])
        insert(
            row
            for n, memory in enumerate(memories)
            for row in answer_rows(memory, [Answer(f"Who is number {n % questions}?", f"{n}")])
        )


@pytest.mark.parametrize("read", [1, 2, 4, 7, 12, 29, 30, 31, 60])
def test_the_first_rows_are_those_of_all(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, read: int
) -> None:
    answer(tenant, 30, questions=7)
    monkeypatch.setattr(newest, "MEMORIES_READ", read)
    now, told = timezone.now(), 0
    with in_workspace(tenant.workspace):
        every = list(select_questions(Wanted(), now=now))
        for count in (1, 3, 6, 7, 8):
            first = select_first(Wanted(), count, now=now)
            if first is not None:
                told += 1
                assert list(first)[:count] == every[:count]
    assert told == {1: 0, 2: 0, 4: 2, 7: 3, 12: 4, 29: 4, 30: 4, 31: 5, 60: 5}[read]


def test_what_is_forgotten_expired_or_of_another_workspace_is_not_among_the_first(
    tenant: Tenant, neighbour: Tenant
) -> None:
    answer(tenant, 6, questions=6)
    told = [{"question": "Who is it?", "answer": "nobody"}]
    neighbour.agent.post("memories", {"content": "It is nobody.", "answers": told})
    with in_workspace(tenant.workspace):
        newest_two = list(Memory.objects.order_by("-observed_at", "-pk")[:2])
        Memory.objects.filter(pk=newest_two[0].pk).update(expires_at=timezone.now())
    tenant.admin.post("memories/forget", {"ids": [str(newest_two[1].pk)], "confirm": True})
    assert len(tenant.reader.get("questions").json()["results"]) == 4


def test_filters_and_further_pages_read_all(tenant: Tenant) -> None:
    answer(tenant, 12, questions=6)
    now = timezone.now()
    with in_workspace(tenant.workspace):
        for wanted in (Wanted(text="number"), Wanted(scope="x"), Wanted(is_disputed=False),
                       Wanted(as_of=now)):  # fmt: skip
            assert select_first(wanted, 3, now=now) is None
    first = tenant.reader.get("questions", {"limit": 4}).json()
    second = tenant.reader.get(first["next"]).json()
    assert [len(page["results"]) for page in (first, second)] == [4, 2]
    shown = [row["id"] for page in (first, second) for row in page["results"]]
    assert len(set(shown)) == 6


def test_the_first_page_reads_no_table_as_a_whole(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(tenant, 2_000, questions=400)
    monkeypatch.setattr(newest, "MEMORIES_READ", 300)
    plans = Plans()
    with connection.execute_wrapper(plans):
        shown: list[Any] = tenant.reader.get("questions").json()["results"]
    assert len(shown) == 50
    tables = {"memories_memory", "memories_memoryanswer"}
    scans = [node for node in plans.nodes if node.get("Relation Name") in tables]
    assert scans
    assert not [node for node in scans if node["Node Type"] == "Seq Scan"]
    with CaptureQueriesContext(connection) as seen:
        tenant.reader.get("questions")
    assert not [query for query in seen if "DISTINCT ON" in query["sql"]]
