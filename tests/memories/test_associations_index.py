"""Entities of memories in the database: written with the words, counted, erased, read later."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import EntityCount, EntityDue, MemoryEntity
from memories.services.commit.commit import commit, commit_all
from memories.services.commit.draft import Draft
from memories.services.index import entities
from memories.services.lifecycle.erase import erase
from memories.tasks import read_entities
from tests.conftest import NOW, Tenant, build_tenant
from tests.memories.test_concurrency import CALLERS, at_once, shared_tenant  # noqa: F401


def add(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.json()
    return str(answer.json()["memory"]["id"])


def keys_of(tenant: Tenant, memory_id: str) -> dict[str, bool]:
    with in_workspace(tenant.workspace):
        rows = MemoryEntity.objects.filter(memory=memory_id).order_by("key")
        return dict(rows.values_list("key", "is_subject"))


def counts(tenant: Tenant) -> dict[str, int]:
    with in_workspace(tenant.workspace):
        return dict(EntityCount.objects.values_list("key", "memories"))


def assert_counted(tenant: Tenant) -> None:
    """Each count is that of the rows, and no key is kept that no memory names."""
    with in_workspace(tenant.workspace):
        rows = list(MemoryEntity.objects.values_list("key", flat=True))
    assert counts(tenant) == {key: rows.count(key) for key in rows}


def test_a_commit_writes_entities_and_their_counts(tenant: Tenant) -> None:
    first = add(tenant, "Falcon is deployed by Harbour every Friday.")
    add(tenant, "Harbour sits on the fourth floor.")
    assert keys_of(tenant, first) == {"falcon": True, "harbour": False}
    assert counts(tenant) == {"falcon": 1, "harbour": 2}


def test_the_questions_of_a_memory_are_read_with_it(tenant: Tenant) -> None:
    given = [{"question": "Which floor is Harbour on?", "answer": "the fourth"}]
    memory = add(tenant, "That desk is on the fourth floor.", answers=given)
    assert keys_of(tenant, memory)["harbour"] is False


def test_a_new_wording_replaces_entities(tenant: Tenant) -> None:
    memory = add(tenant, "Falcon is deployed by Harbour.")
    assert (
        tenant.reviewer.patch(
            f"memories/{memory}", {"content": "Osprey is deployed by Harbour."}
        ).status_code
        == 200
    )
    assert keys_of(tenant, memory) == {"osprey": True, "harbour": False}
    assert_counted(tenant)
    assert "falcon" not in counts(tenant)


def test_other_answers_are_read_by_the_sweep(tenant: Tenant) -> None:
    memory = add(tenant, "That desk is on the fourth floor.")
    told = [{"question": "Which floor is Harbour on?", "answer": "the fourth"}]
    assert tenant.agent.patch(f"memories/{memory}", {"answers": told}).status_code == 200
    with in_workspace(tenant.workspace):
        assert EntityDue.objects.count() == 1
    read_entities()
    assert "harbour" in keys_of(tenant, memory)
    with in_workspace(tenant.workspace):
        assert EntityDue.objects.count() == 0


def test_erasing_leaves_no_key(tenant: Tenant) -> None:
    memory = add(tenant, "Zyzzyvaquux deploys Falcon.")
    other = add(tenant, "Falcon is old.")
    erase(tenant.workspace, UUID(memory), actor=SYSTEM, now=NOW)
    assert counts(tenant) == {"falcon": 1}
    assert keys_of(tenant, other) == {"falcon": True}
    assert_counted(tenant)


def test_hidden_memories_do_not_count_until_they_are_restored(tenant: Tenant) -> None:
    memory = add(tenant, "Falcon is deployed by Harbour.")
    add(tenant, "Falcon is old.")
    assert tenant.agent.post("memories/forget", {"ids": [memory], "confirm": True}).json()["ids"]
    assert entities.read_due(tenant.workspace) == 1
    assert counts(tenant) == {"falcon": 1}
    assert tenant.agent.post("memories/restore", {"ids": [memory]}).status_code == 200
    assert entities.read_due(tenant.workspace) == 1
    assert counts(tenant) == {"falcon": 2, "harbour": 1}
    assert_counted(tenant)


def test_memories_from_before_are_read_in_steps(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entities, "MEMORIES_A_STEP", 2)
    ids = [add(tenant, f"Falcon {number} is deployed by Harbour.") for number in range(5)]
    with in_workspace(tenant.workspace):
        before = dict(EntityCount.objects.values_list("key", "memories"))
        MemoryEntity.objects.all().delete()
        EntityCount.objects.all().delete()
        entities.mark_due()
        entities.mark_due()  # what is marked stays marked once
        assert EntityDue.objects.count() == 5
    assert entities.read_due(tenant.workspace) == 5
    assert counts(tenant) == before
    assert entities.read_due(tenant.workspace) == 0
    assert keys_of(tenant, ids[0]) == {"falcon 0": True, "harbour": False}


def test_reading_again_changes_no_count(tenant: Tenant) -> None:
    add(tenant, "Falcon is deployed by Harbour.")
    before = counts(tenant)
    with in_workspace(tenant.workspace):
        entities.mark_due()
    entities.read_due(tenant.workspace)
    assert counts(tenant) == before


def test_a_step_takes_as_many_queries_for_one_memory_as_for_many(tenant: Tenant) -> None:
    def queries(memories: int) -> int:
        drafts = [Draft(content=f"Falcon {memories}-{n} flies.") for n in range(memories)]
        commit_all(tenant.workspace, drafts, actor=SYSTEM, now=NOW, is_gated=False)
        with in_workspace(tenant.workspace):
            entities.mark_due()
        with CaptureQueriesContext(
            connection,
        ) as captured:
            entities.read_due(tenant.workspace)
        return len(captured)

    assert queries(1) == queries(40)


def test_another_workspace_has_its_own_entities(tenant: Tenant) -> None:
    other = build_tenant("other-entities")
    add(tenant, "Falcon is deployed by Harbour.")
    add(other, "Falcon is grounded.")
    assert counts(other) == {"falcon": 1}
    with connection.cursor() as cursor:  # without a workspace nothing is visible
        cursor.execute("SELECT count(*) FROM memories_memoryentity")
        assert cursor.fetchone()[0] == 0


TOPICS = ("Rent", "Baking", "Chess", "Sailing", "Payroll", "Compost")


@pytest.mark.django_db(transaction=True)
def test_concurrent_commits_count_each_memory_once(
    shared_tenant: Tenant,  # noqa: F811
) -> None:
    def write(number: int) -> None:
        content = f"{TOPICS[number]} concerns Falcon, Harbour and Osprey."
        commit(shared_tenant.workspace, Draft(content=content), actor=SYSTEM, now=NOW)
        with in_workspace(shared_tenant.workspace):
            entities.mark_due()
        entities.read_due(shared_tenant.workspace)

    at_once(write)
    assert counts(shared_tenant)["harbour"] == CALLERS
    assert_counted(shared_tenant)
