"""The links of a memory on its page: a drawing to move through by keyboard, and a list."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client

from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from tests.conftest import NOW, Tenant
from tests.memories.test_associations_recall import DEPLOYS, SITS, fill
from tests.memories.test_note_links import put

PAGE = "/console/memories/{}/"
HARMFUL = "Harbour keeps <script>alert(1)</script> & more."


def test_links_are_drawn_and_listed(tenant: Tenant, member: Callable[[str], Client]) -> None:
    put(tenant, "plans/runbook.md")
    here, other, _ = fill(tenant, f"{DEPLOYS} See [[runbook]].", SITS, HARMFUL)
    page = member("reader").get(PAGE.format(here)).content.decode()
    drawing = page[page.index('<svg class="links-drawing"') : page.index("The same as a list")]
    assert drawing.count(f'<a href="{PAGE.format(other)}"') == 1
    assert "both name one entity: harbour" in drawing
    assert "this memory links it: runbook" in drawing
    assert page.count(f'href="{PAGE.format(other)}"') == 2  # in the list as well
    assert "<script>alert(1)" not in page


def test_hidden_memories_are_not_drawn(tenant: Tenant, member: Callable[[str], Client]) -> None:
    here, other = fill(tenant, DEPLOYS, SITS)
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=other).update(forgotten_at=NOW)
    page = member("reader").get(PAGE.format(here)).content.decode()
    assert "links-drawing" not in page
    assert SITS not in page
