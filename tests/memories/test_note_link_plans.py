"""Who links a note is found by the index over links of live memories, however many are hidden."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import connection

from engram.kernel.tenancy import in_workspace
from memories.core.associations import MEMORY, NOTE
from memories.core.spreading import Node
from memories.models import Memory, Note, NoteLink
from memories.services.associations.list import links_of_memory
from memories.services.notes.links import linking_memory_ids
from memories.services.recall.links import LinkReader
from memories.services.recallable import recallable_condition
from tests.conftest import NOW, Tenant
from tests.memories.test_associations_recall import fill
from tests.memories.test_note_links import put
from tests.memories.test_plans import explained

HIDDEN = 5_000


@pytest.mark.parametrize("state", ["fresh", "analysed"])
def test_links_of_hidden_memories_are_not_read(tenant: Tenant, state: str) -> None:
    put(tenant, "ops/rota.md")
    here, other = fill(tenant, "Shifts swap, see [[rota]].", "Keys hang as in [[rota]].")
    with in_workspace(tenant.workspace):
        note_id = NoteLink.objects.filter(memory=here).values_list("note", flat=True).get()
        gone = Memory.objects.bulk_create(
            Memory(
                content=f"Gone {n}.", content_hash=f"{n:064}", forgotten_at=NOW,
                observed_at=NOW, created_at=NOW, updated_at=NOW,
            )
            for n in range(HIDDEN)
        )  # fmt: skip
        NoteLink.objects.bulk_create(
            NoteLink(
                memory=memory, note_id=note_id, position=0, target="rota", key="rota", is_live=False
            )
            for memory in gone
        )
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        if state == "analysed":
            cursor.execute("ANALYZE memories_notelink, memories_memory")
    with in_workspace(tenant.workspace):
        memory = Memory.objects.get(pk=here)
        reader = LinkReader(recallable_condition(NOW), memories=2, now=NOW)
        with explained() as listing:
            links = links_of_memory(memory, NOW)
        with explained() as counting:
            found = linking_memory_ids(Note.objects.get(pk=note_id), NOW)
        with explained() as walking:
            walked = reader.links_of([Node(NOTE, str(note_id))])
    assert {link.other for link in links if link.kind == "shared_note"} == {UUID(other)}
    assert {node.key for node in walked[Node(NOTE, str(note_id))]} == {here, other}
    assert {node.kind for node in walked[Node(NOTE, str(note_id))]} == {MEMORY}
    assert "note_link_from_notes" in walking.indexes
    assert found == {UUID(here), UUID(other)}
    for plans in (listing, counting, walking):
        assert "note_link_live" in plans.indexes
        scans = {n["Relation Name"] for n in plans.nodes if n["Node Type"] == "Seq Scan"}
        assert "memories_notelink" not in scans
