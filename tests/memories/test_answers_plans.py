"""Answers are read and embedded by index, however many memories answer one question."""

from __future__ import annotations

from django.db import connection

from engram.kernel.inserting import insert
from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer
from memories.models import Memory, MemoryAnswer
from memories.services.index.answers import embed_questions, load_answers
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
