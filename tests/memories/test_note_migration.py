"""An upgrade reads the links of memories that were committed before there were notes."""

from __future__ import annotations

from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from engram.kernel.tenancy import in_workspace
from memories.models import NoteLink
from tests.conftest import Tenant

BEFORE, AFTER = ("memories", "0025_answers_by_memory"), ("memories", "0026_notes")


def test_memories_from_before_notes_get_their_links(tenant: Tenant, neighbour: Tenant) -> None:
    tenant.agent.post("memories", {"content": "Invoices are monthly, see [[Work/Billing#Rules]]."})
    tenant.agent.post("memories", {"content": "Bash tests with `[[ -f a ]]`."})
    neighbour.agent.post("memories", {"content": "The office is in Ghent."})
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    MigrationExecutor(connection).migrate([BEFORE])
    MigrationExecutor(connection).migrate([AFTER])
    with in_workspace(neighbour.workspace):
        assert not NoteLink.objects.exists()
    with in_workspace(tenant.workspace):
        link = NoteLink.objects.get()
        assert (link.target, link.key, link.heading) == ("Work/Billing", "work/billing", "Rules")
        assert (link.note_id, link.reason) == (None, "unresolved")
