"""Writing a note reads what leans on this note, not all supports and links."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import connection

from engram.kernel.planning import searching
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Note, NoteLink, NoteSupport, PredictionError
from memories.services.drift.move import may_link
from memories.services.drift.report import report_drift
from tests.conftest import NOW, Tenant
from tests.memories.drift_world import put, remember
from tests.memories.test_plans import explained

NOTES = 3000
READ = {"memories_note", "memories_notelink", "memories_notesupport"}
AT = "work/changed.md"


@pytest.fixture
def many(tenant: Tenant) -> Tenant:
    """Return a workspace with NOTES notes, and a support and a link of each."""
    memory_id = remember(tenant, "Pumps are serviced in May.")
    put(tenant, "# Changed\n\nThe pump is red.", AT)
    with in_workspace(tenant.workspace):
        memory = Memory.objects.get(pk=memory_id)
        notes = Note.objects.bulk_create(
            Note(path=f"n/{n}.md", content_hash=f"{n:064}", created_at=NOW, updated_at=NOW)
            for n in range(NOTES)
        )
        NoteSupport.objects.bulk_create(NoteSupport(memory=memory, note=note) for note in notes)
        NoteLink.objects.bulk_create(
            NoteLink(source=note, note=note, position=0, target=note.path, key=note.path)
            for note in notes
        )
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return tenant


@pytest.mark.parametrize("state", ["fresh", "analysed"])
def test_a_changed_note_scans_no_table_of_the_workspace(many: Tenant, state: str) -> None:
    if state == "analysed":
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {', '.join(sorted(READ))}")
    with in_workspace(many.workspace):
        note = Note.objects.get(path=AT)
        with explained() as plans:
            assert not NoteSupport.objects.filter(may_link(), note=note).exists()
    scans = {one["Relation Name"] for one in plans.nodes if one["Node Type"] == "Seq Scan"}
    assert scans & READ == set()


@pytest.mark.parametrize("state", ["fresh", "analysed"])
def test_a_recall_that_reports_drift_reads_the_supports_of_its_memories(
    many: Tenant, state: str
) -> None:
    other = UUID(remember(many, "Boats are painted in May ([[work/changed]])."))
    with in_workspace(many.workspace):
        note, memory = Note.objects.get(path=AT), Memory.objects.get(pk=other)
        NoteSupport.objects.filter(memory=memory).update(
            is_drifted=True, checked_version=note.version, checked_hash=memory.content_hash
        )
    if state == "analysed":
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {', '.join(sorted(READ))}")
    with searching(many.workspace), explained() as plans:
        report_drift(many.workspace, [other], origin="recall", now=NOW)
    whole = [
        node
        for node in plans.nodes
        if node.get("Relation Name") in READ and "Index Cond" not in node
    ]
    assert whole == []
    with in_workspace(many.workspace):
        assert PredictionError.objects.count() == 1
