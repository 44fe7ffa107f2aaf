"""An upgrade reads the links of memories that were committed before there were notes."""

from __future__ import annotations

from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from engram.kernel.tenancy import in_workspace
from memories.models import NoteLink
from tests.conftest import Tenant

BEFORE_LIVE, LIVE = ("memories", "0038_entities_again"), ("memories", "0039_live_note_links")
ATTACHMENTS = ("memories", "0040_attachments")
BEFORE, AFTER = ("memories", "0025_answers_by_memory"), ("memories", "0026_notes")


def migrate(*steps: tuple[str, str]) -> None:
    """Migrate to each step in turn."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    for step in steps:
        MigrationExecutor(connection).migrate([step])


def test_memories_from_before_notes_get_their_links(tenant: Tenant, neighbour: Tenant) -> None:
    tenant.agent.post("memories", {"content": "Invoices are monthly, see [[Work/Billing#Rules]]."})
    tenant.agent.post("memories", {"content": "Bash tests with `[[ -f a ]]`."})
    neighbour.agent.post("memories", {"content": "The office is in Ghent."})
    migrate(BEFORE, AFTER)
    with in_workspace(neighbour.workspace):
        assert not NoteLink.objects.exists()
    with in_workspace(tenant.workspace):
        link = NoteLink.objects.values_list("target", "key", "heading", "note", "reason").get()
        assert link == ("Work/Billing", "work/billing", "Rules", None, "unresolved")


def test_links_of_hidden_memories_are_said_to_be_such(tenant: Tenant) -> None:
    for content in ("Invoices are monthly, see [[billing]].", "Desks are upstairs [[rota]]."):
        answer = tenant.agent.post("memories", {"content": content})
    ids = [answer.json()["memory"]["id"]]
    tenant.agent.post("memories/forget", {"ids": ids, "confirm": True})
    migrate(BEFORE_LIVE, LIVE)
    with in_workspace(tenant.workspace):
        found = dict(NoteLink.objects.values_list("target", "is_live"))
    assert found == {"billing": True, "rota": False}


def test_stored_links_to_attachments_are_told_from_dead_ones(tenant: Tenant) -> None:
    tenant.agent.post("memories", {"content": "See ![[photo.png]] and [[v1.2]] and [[../a.pdf]]."})
    with in_workspace(tenant.workspace):
        NoteLink.objects.update(reason="unresolved")
    migrate(LIVE, ATTACHMENTS)
    with in_workspace(tenant.workspace):
        found = dict(NoteLink.objects.values_list("target", "reason"))
    assert found == {
        "photo.png": "attachment", "v1.2": "unresolved", "../a.pdf": "attachment"
    }  # fmt: skip
