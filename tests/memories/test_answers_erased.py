"""Erasing a statement also erases its answers where it was the former wording of a memory."""

from __future__ import annotations

from typing import Any

import pytest

from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer, answers_digest
from memories.models import AskedAnswers, Memory, MemoryAnswer
from memories.services.lifecycle.answers import write_answers
from tests.conftest import Tenant
from tests.memories.test_erase import CANARY, tables_holding

OLD = f"The crates of {CANARY} stand in Ghent."
NEW = "Some crates stand in Ghent, on the quay."
QUOTING = {"question": f"Where do the crates of {CANARY} stand?", "answer": "Ghent", "was": None}
PLACE = {"question": "Where do some crates stand?", "answer": "in Ghent", "was": None}


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    return str(answer.json()["memory"]["id"])


def answers_of(tenant: Tenant, memory: str) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = tenant.reader.get(f"memories/{memory}").json()["answers"]
    return [{name: one[name] for name in ("question", "answer", "was")} for one in shown]


def reword(tenant: Tenant, memory: str, content: str) -> None:
    assert tenant.agent.patch(f"memories/{memory}", {"content": content}).status_code == 200


def erase_copy(tenant: Tenant, content: str) -> None:
    """Commit a statement that a memory made before, and erase it."""
    copy = commit(tenant, content, scope="elsewhere")
    assert tenant.admin.delete(f"memories/{copy}").status_code == 204


def test_answers_of_a_former_wording_are_erased_with_it(tenant: Tenant, neighbour: Tenant) -> None:
    theirs = commit(neighbour, OLD, answers=[QUOTING])
    reword(neighbour, theirs, NEW)
    memory = commit(tenant, OLD)
    tenant.agent.patch(f"memories/{memory}", {"answers": [QUOTING]})
    reword(tenant, memory, NEW)
    tenant.agent.patch(f"memories/{memory}", {"answers": [QUOTING, PLACE]})
    tenant.agent.patch(f"memories/{memory}", {"importance": 0.9})
    neighbour.admin.delete(f"memories/{theirs}")
    erase_copy(tenant, OLD)
    assert answers_of(tenant, memory) == [PLACE]
    assert tables_holding(CANARY) == {}


def test_answers_that_another_statement_gave_too_stay(tenant: Tenant) -> None:
    memory = commit(tenant, OLD, answers=[QUOTING, PLACE])
    reword(tenant, memory, NEW)
    commit(tenant, NEW, answers=[PLACE | {"question": "Where is it?"}, PLACE])
    erase_copy(tenant, OLD)
    assert answers_of(tenant, memory) == [PLACE, PLACE | {"question": "Where is it?"}]


@pytest.mark.parametrize("by_model", [True, False])
def test_what_is_read_from_the_present_wording_stays(tenant: Tenant, by_model: bool) -> None:
    content = NEW if by_model else "The crates are kept in the Ghent depot."
    told = PLACE if by_model else {
        "question": "Where are the crates kept?", "answer": "in the Ghent depot", "was": None,
    }  # fmt: skip
    memory = commit(tenant, f"{CANARY} was right: the crates are in Ghent.", answers=[told])
    tenant.agent.patch(f"memories/{memory}", {"content": content, "answers": []})
    with in_workspace(tenant.workspace):
        row = Memory.objects.get(pk=memory)
        AskedAnswers.objects.all().delete()
        write_answers(row, [Answer(**told)])
        if by_model:
            digest = answers_digest([Answer(**told)])
            AskedAnswers.objects.create(
                memory=row, content_hash=row.content_hash, answers_hash=digest
            )
    erase_copy(tenant, f"{CANARY} was right: the crates are in Ghent.")
    assert answers_of(tenant, memory) == [told]


def test_a_former_wording_that_another_memory_makes_keeps_its_answers(tenant: Tenant) -> None:
    first = commit(tenant, OLD, answers=[QUOTING])
    reword(tenant, first, NEW)
    gone = commit(tenant, OLD, scope="second")
    reword(tenant, gone, "The second crates went to Bruges.")
    commit(tenant, OLD, scope="third")
    assert tenant.admin.delete(f"memories/{gone}").status_code == 204
    assert answers_of(tenant, first) == [QUOTING]
    with in_workspace(tenant.workspace):
        assert MemoryAnswer.objects.count() == 1
