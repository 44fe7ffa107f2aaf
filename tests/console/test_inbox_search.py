"""No search, and no count of one, tells whether something forgotten holds a word."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conflicts.services.cards import queue
from engram.console.inbox.registry import SOURCES
from engram.console.inbox.source import InboxFilter
from engram.kernel.tenancy import in_workspace
from memories.models import ExtractionRefusal
from memories.services.extraction import run
from tests.conftest import Tenant

CANARY = "zyzzyvaquux"
STATEMENT = f"The vault word of the north tower is {CANARY}."
FINER = f"The vault word of the north tower is {CANARY} until May."
RIVAL = "The vault word of the north tower is swordfish."
STATED = f"The vault of the south tower opens with {CANARY}."
CLAIM = f"Nobody may say {CANARY} aloud."
TALK = "User: The spare word of the vault is with Ole in the red shed.\nAgent: Fine.\n"


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, "scope": "tower", **fields})
    assert answer.status_code == 201, answer.json()
    memory_id: str = answer.json()["memory"]["id"]
    return memory_id


@pytest.fixture
def ids(tenant: Tenant) -> list[str]:
    """Let memories with the canary wait in the inbox in every way; return them."""
    first = commit(tenant, STATEMENT)
    rival = commit(tenant, RIVAL)
    finer = commit(tenant, FINER, session_key="other")
    card = tenant.agent.post("conflicts", {"memory_ids": [first, rival], "note": ""})
    assert card.status_code == 201
    stated = commit(tenant, STATED, provenance="user_stated")
    asked = tenant.agent.patch(f"memories/{stated}", {"content": "The vault is open."})
    assert asked.status_code == 202
    body = {"source": "git", "evidence": {"word": CANARY}}
    assert tenant.agent.post(f"memories/{stated}/signals", body).status_code == 201
    tenant.agent.post("memories/extract", {"transcript": TALK})
    run.extract_turn(tenant.workspace.pk, clock=timezone.now, seconds=60, may_ask=False)
    with in_workspace(tenant.workspace):
        refused = ExtractionRefusal.objects.filter(text__startswith="The spare word")
        assert refused.update(text=STATEMENT, fact=STATEMENT, is_borderline=True) == 1
    return [first, finer, stated]


def found(tenant: Tenant, words: str) -> dict[str, int]:
    """Return how many waiting items of each kind a search finds."""
    wanted, now = InboxFilter(text=words), timezone.now()
    with in_workspace(tenant.workspace):
        counted = {source.name: source.due_now(wanted, now).count() for source in SOURCES}
        listed = {
            source.name: len(source.entries(wanted, now, mark=None, limit=50)) for source in SOURCES
        }
        cards = queue.cards(queue.CardFilter(status=queue.ALL, text=words)).count()
    assert counted == listed
    return {name: count for name, count in counted.items() if count} | {"cards": cards}


def test_no_search_of_the_inbox_finds_what_was_forgotten(tenant: Tenant, ids: list[str]) -> None:
    before = found(tenant, CANARY)
    assert set(before) >= {"conflicts", "reviews", "drift", "refusals"}
    assert before["cards"] == 1
    body = {"ids": ids, "confirm": True}
    assert tenant.reviewer.post("memories/forget", body).status_code == 200
    for words in (CANARY, CANARY[:4], CANARY.upper(), f"is {CANARY}"):
        assert found(tenant, words) == {"cards": 0}
    assert found(tenant, "swordfish")["cards"] == 1  # of the card that is shown without the other


@pytest.mark.parametrize("role", ["reader", "reviewer"])
def test_pages_with_a_search_find_nothing_of_it(
    tenant: Tenant, ids: list[str], member: Any, role: str
) -> None:
    client: Client = member(role)
    addresses = (
        "/console/inbox/?q={}", "/console/triage/?q={}", "/console/conflicts/?q={}&status=all",
        "/console/questions/?q={}", "/console/notes/?q={}", "/admin/conflicts/conflict/?q={}",
    )  # fmt: skip
    assert sum(_tells(client, address) for address in addresses) >= 3
    tenant.reviewer.post("memories/forget", {"ids": ids, "confirm": True})
    assert not [address for address in addresses if _tells(client, address)]


def _tells(client: Client, address: str) -> bool:
    """Return whether a search for the canary answers otherwise than one for another word."""
    nothing = "nothingsaysthis"
    answers = [client.get(address.format(words)) for words in (CANARY, nothing)]
    assert [answer.status_code for answer in answers] == [200, 200], address
    texts = [answer.content.decode().replace(CANARY, nothing) for answer in answers]
    return _plain(texts[0]) != _plain(texts[1])


def _plain(html: str) -> list[str]:
    """Return the lines without those that differ from call to call."""
    return [line for line in html.splitlines() if "csrf" not in line and "nonce" not in line]
