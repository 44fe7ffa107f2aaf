"""Write a memory by hand: from the list of memories, and from what agents missed."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryTag, Session
from tests.conftest import Tenant

Member = Callable[[str], Client]
NEW, LIST = "/console/memories/new/", "/console/memories/"
SAID = "Overtime of the crew is approved by Ines."


def write(client: Client, status: int = 200, **fields: str) -> str:
    """Send the form, and return the page that it leads to."""
    answer = client.post(NEW, {"content": SAID} | fields, follow=True)
    assert answer.status_code == status
    return unescape(answer.content.decode())


def kept(tenant: Tenant, **fields: Any) -> list[Memory]:
    with in_workspace(tenant.workspace):
        return list(Memory.objects.filter(**fields))


def test_what_a_person_writes_is_kept_as_their_word(tenant: Tenant, member: Member) -> None:
    client = member("reviewer")
    assert f'href="{NEW}"' in client.get(LIST).content.decode()
    page = write(client, scope="crew", project="harbour", kind="decision", tags="rota\r\n\r\n pay ")
    assert "Kept. Agents can recall it from now on." in page
    [one] = kept(tenant, content=SAID)
    assert (one.provenance, one.kind, one.scope, one.project) == (
        "user_stated", "decision", "crew", "harbour",
    )  # fmt: skip
    with in_workspace(tenant.workspace):
        assert set(MemoryTag.objects.values_list("tag", flat=True)) == {"rota", "pay"}
    assert "says exactly that already" in write(client, scope="crew", project="harbour")
    assert len(kept(tenant, content=SAID)) == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"content": " "}, 'id="new-content-error"'),
        ({"content": "The key is sk-proj-Zx8Kq2Lm9Vt4Rb7Yn3Wc6Hd1Jf5Gs0Pa."}, "new-content-error"),
        ({"scope": "a" * 301}, 'id="new-scope-error"'),
        ({"kind": "poem"}, "Look at the marked fields."),
    ],
)
def test_what_cannot_be_kept_is_shown_again_with_the_reason(
    tenant: Tenant, member: Member, fields: dict[str, str], said: str
) -> None:
    page = write(member("reviewer"), 422, **fields)
    assert said in page
    assert "Not kept." in page
    assert kept(tenant) == []


def test_what_was_forgotten_is_not_written_again(tenant: Tenant, member: Member) -> None:
    client = member("reviewer")
    write(client)
    [one] = kept(tenant)
    client.post(f"{LIST}act/", {"do": "forget", "ids": [str(one.pk)], "confirmed": "yes"})
    assert "forgotten before" in write(client, 422)
    assert SAID in write(client, 422)


def test_readers_write_nothing(tenant: Tenant, member: Member) -> None:
    for role in ("reader", "agent"):
        client = member(role)
        assert NEW not in client.get(LIST).content.decode()
        assert client.get(NEW).status_code == client.post(NEW, {"content": SAID}).status_code == 403
    assert kept(tenant) == []


def test_what_agents_missed_leads_to_the_form(tenant: Tenant, member: Member) -> None:
    tenant.agent.post("sessions", {"session_key": "rota", "context": "Plan", "scope": "crew"})
    said = {"transcript": "User: Who? Agent: Ines.", "missing": ["Who approves overtime? Ines."]}
    assert tenant.agent.post("sessions/rota/end", said).status_code == 202
    path = "/admin/memories/reportitem/"
    assert NEW not in member("reader").get(path).content.decode()
    client = member("reviewer")
    page = unescape(client.get(path).content.decode())
    link = f"{NEW}?content=Who+approves+overtime%3F+Ines.&scope=crew&project="
    assert page.count(f'href="{link}"') == 1
    with in_workspace(tenant.workspace):
        session = Session.objects.get()
    said_at_end = client.get(f"/admin/memories/session/{session.pk}/change/").content.decode()
    there = re.findall(rf'href="({NEW}[^"]*)">Write a memory</a>', said_at_end)
    assert [parse_qs(urlsplit(unescape(one)).query) for one in there] == [
        {"content": ["Who approves overtime? Ines."], "scope": ["crew"]}
    ]
    form = unescape(client.get(link).content.decode())
    assert ">Who approves overtime? Ines.</textarea>" in form
    assert 'value="crew"' in form
