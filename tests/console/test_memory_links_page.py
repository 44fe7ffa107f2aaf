"""The links of a memory on its page: a drawing to move through by keyboard, and a list."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

from django.test import Client
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Note
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


def test_links_to_notes_are_shown_by_name_and_lead_to_the_notes(
    tenant: Tenant, member: Callable[[str], Client]
) -> None:
    """The text stays as it is but for its links; in lists these are names."""
    put(tenant, "plans/runbook.md")
    text = (
        "**Deploys** follow [[plans/runbook|the <b>runbook</b>]], [[runbook]] and [[nowhere]], "
        "not `[[code]]`."
    )
    (here,) = fill(tenant, text)
    client = member("reviewer")
    page = client.get(PAGE.format(here)).content.decode()
    heading = page[page.index('id="statement"') :].split("</h1>")[0]
    with in_workspace(tenant.workspace):
        note = Note.objects.get()
    link = f'<a href="/console/notes/{note.pk}/">'
    assert f"{link}the &lt;b&gt;runbook&lt;/b&gt;</a>" in heading
    assert f"{link}runbook</a>" in heading
    assert re.search(r'<span class="leads-nowhere" title="[^"]+">nowhere</span>', heading)
    assert "**Deploys** follow" in heading
    assert "`[[code]]`." in heading
    named = "follow the &lt;b&gt;runbook&lt;/b&gt;, runbook and nowhere, not `[[code]]`."
    listed = client.get("/console/memories/").content.decode()
    admin = client.get("/admin/memories/memory/").content.decode()
    asked = client.post("/console/memories/act/", {"do": "pin", "ids": here}).content.decode()
    for html in (listed, admin, asked):
        assert named in html
        assert "[[runbook]]" not in html
    assert "[[plans/runbook|the &lt;b&gt;runbook&lt;/b&gt;]]" in page  # as it is edited


def test_a_wording_of_the_past_shows_its_links_by_name(
    tenant: Tenant, member: Callable[[str], Client]
) -> None:
    ago = (timezone.now() - timedelta(days=9)).isoformat()
    sent = {"content": "Boats lie at [[pier]].", "observed_at": ago}
    here = tenant.agent.post("memories", sent).json()["memory"]["id"]
    assert tenant.reviewer.patch(f"memories/{here}", {"content": "Boats lie ashore."}).status_code
    day = (timezone.localdate() - timedelta(days=5)).isoformat()
    page = member("reader").get(PAGE.format(here), {"as_of": day}).content.decode()
    heading = page[page.index('id="statement"') :].split("</h1>")[0]
    assert "Boats lie at pier." in heading
