"""Answers are read and embedded by index, however many memories answer one question."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.db import connection

from engram.kernel.inserting import insert
from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer, question_hash
from memories.models import Memory, MemoryAnswer
from memories.services.index.answers import embed_questions, load_answers
from memories.services.index.question_groups import join_wordings
from memories.services.lifecycle.answers import answer_rows
from memories.services.lifecycle.attached import links_of
from tests.conftest import Tenant
from tests.memories.scale import clustered, fill
from tests.memories.test_plans import Plans

WHO = "Who approves refunds?"
MANY = 2_000


def answer_all(tenant: Tenant, number: int) -> list[Memory]:
    """Store memories that all answer one question, and none of it embedded."""
    ids = fill(tenant.workspace, clustered(number, seed=1), words=6, seed=0)
    with in_workspace(tenant.workspace):
        memories = list(Memory.objects.filter(pk__in=ids))
        insert(
            row
            for n, memory in enumerate(memories)
            for row in answer_rows(memory, [Answer(WHO, f"team {n}")])
        )
    return memories


def test_thousands_of_memories_that_answer_one_question_are_read_by_index(tenant: Tenant) -> None:
    memories = answer_all(tenant, MANY)
    assert embed_questions(tenant.workspace) == 1
    some = [memory.id for memory in memories[:50]]
    plans = Plans()
    with in_workspace(tenant.workspace), connection.execute_wrapper(plans):
        found = load_answers(tenant.workspace, some)
        links = links_of(some)
    assert len(found) == len(links) == 50
    assert all(vector is not None for rows in found.values() for _, vector in rows)
    scans = [n for n in plans.nodes if n.get("Relation Name") == "memories_memoryanswer"]
    assert scans
    assert not any(node["Node Type"] == "Seq Scan" for node in scans)
    [asked] = [n for n in plans.nodes if n.get("Relation Name") == "memories_askedanswers"]
    limits = [asked.get(name, "") for name in ("Index Cond", "Recheck Cond", "Filter")]
    assert f"'{tenant.workspace.id}'" in " ".join(limits)
    with in_workspace(tenant.workspace):
        assert not MemoryAnswer.objects.filter(embedding=None).exists()


class RowsRead:
    """How many answers a statement reads; it is explained instead of run, which runs it too."""

    def __init__(self) -> None:
        self.number = 0.0

    def __call__(
        self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any
    ) -> Any:
        """Run a statement; count the answers that it reads if it writes some."""
        if "UPDATE memories_memoryanswer" not in sql:
            return execute(sql, params, many, context)
        result = execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params, many, context)
        plan = context["cursor"].fetchone()[0]
        self._count((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])
        return result

    def _count(self, node: dict[str, Any]) -> None:
        if node.get("Relation Name") == "memories_memoryanswer":
            removed = ("Rows Removed by Filter", "Rows Removed by Index Recheck")
            rows = node["Actual Rows"] + sum(node.get(name, 0) for name in removed)
            self.number += rows * node["Actual Loops"]
        for inner in node.get("Plans", []):
            self._count(inner)


def test_a_wording_of_many_memories_joins_another_by_reading_each_a_few_times(
    tenant: Tenant,
) -> None:
    many, known = 300, "Who signs refunds off?"
    first, *_ = answer_all(tenant, many)
    with in_workspace(tenant.workspace):
        insert(answer_rows(first, [Answer(known, "team 0")]))
    read = RowsRead()
    with connection.execute_wrapper(read):
        join_wordings(tenant.workspace, {question_hash(WHO): question_hash(known)})
    with in_workspace(tenant.workspace):
        groups = MemoryAnswer.objects.values_list("question_group", flat=True)
        assert len(set(groups)) == 1
    assert many < read.number < 10 * many
