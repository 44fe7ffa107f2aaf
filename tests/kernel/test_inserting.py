"""Rows of several tables in one round trip."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from engram.kernel.actors import SYSTEM
from engram.kernel.history import event
from engram.kernel.inserting import insert
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryTag
from tests.conftest import NOW, Tenant


def make_memory(content: str) -> Memory:
    return Memory(content=content, observed_at=NOW, created_at=NOW, updated_at=NOW)


def test_rows_of_several_tables_take_one_query_and_get_their_keys(
    tenant: Tenant, neighbour: Tenant
) -> None:
    text = "A 50 % share; 'quoted' \\ %s"
    memory = make_memory(text)
    tags = [MemoryTag(memory=memory, tag=tag) for tag in ("one", "two")]
    told = event("memory.committed", of=("memory", memory.id), actor=SYSTEM, now=NOW)
    with in_workspace(tenant.workspace):
        with CaptureQueriesContext(connection) as asked:
            insert([memory, *tags, told])
        assert len(asked) == 1
        assert Memory.objects.get().content == text
        assert [MemoryTag.objects.get(pk=row.pk).tag for row in tags] == ["one", "two"]
        assert Event.objects.get(pk=told.pk).object_id == str(memory.id)
        assert {memory.workspace_id, told.workspace_id} == {tenant.workspace.pk}
        told.save()  # a written row is changed, not inserted again
    with in_workspace(neighbour.workspace):
        assert not Memory.objects.exists()


def test_when_one_row_is_refused_none_is_written(tenant: Tenant) -> None:
    memory, refused = make_memory("The lift is slow."), make_memory("The stairs are steep.")
    refused.confidence = 2
    with in_workspace(tenant.workspace):
        with pytest.raises(IntegrityError), transaction.atomic():
            insert([memory, MemoryTag(memory=memory, tag="lift"), refused])
        assert not Memory.objects.exists()
        insert([])


def test_values_that_rows_share_are_those_of_their_own_field(tenant: Tenant) -> None:
    texts = ["lift", "it's \\ 50 %", "lift"]
    with in_workspace(tenant.workspace):
        memory = make_memory(texts[0])
        memory.agent = texts[0]
        events = [event(text, of=(text, memory.id), actor=SYSTEM, now=NOW) for text in texts]
        insert([memory, *events])
        kept = Event.objects.filter(object_id=memory.id).order_by("seq")
        told = kept.values_list("type", "object_type", "at", "data")
        assert list(told) == [(text, text, NOW, {}) for text in texts]
        assert Memory.objects.values_list("content", "agent").get() == (texts[0], texts[0])
