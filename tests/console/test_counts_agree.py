"""What waits is counted once: home, tabs, inbox, gate, detective and API say the same number."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conflicts.models import Conflict
from conflicts.services.cards import snooze
from engram.console.inbox.put_off import put_off
from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import MergeSuggestion, Relation
from tests.conftest import Tenant
from tests.console.cards import disagree, remember
from tests.console.test_gate_page import furnish

Member = Callable[[str], Client]


def shown(client: Client, path: str) -> str:
    return str(client.get(path).content.decode())


def number(pattern: str, html: str) -> int:
    found = re.search(pattern, html)
    assert found is not None, pattern
    return int(found[1])


def test_all_pages_count_the_same_also_when_some_are_snoozed(
    tenant: Tenant, member: Member
) -> None:
    furnish(tenant, "infra/one")
    furnish(tenant, "infra/two")
    disagree(tenant.workspace)
    dates = [remember(tenant.workspace, f"The fair is on {d}.") for d in ("Monday", "Friday")]
    tenant.reviewer.post("conflicts", {"memory_ids": [str(memory.pk) for memory in dates]})
    later: dict[str, Any] = {"until": timezone.now() + timedelta(days=3), "now": timezone.now()}
    with in_workspace(tenant.workspace):
        card = Conflict.objects.first()
        suggestion = MergeSuggestion.objects.first()
        assert card is not None
        assert suggestion is not None
    snooze.snooze(tenant.workspace, card.pk, actor=SYSTEM, **later)
    put_off(tenant.workspace, "suggestions", suggestion.pk, actor=SYSTEM, **later)
    client = member("reviewer")
    waits = tenant.reviewer.get("inbox").json()
    by_source = {one["name"]: one["count"] for one in waits["sources"]}
    total = sum(by_source.values())
    assert (by_source["conflicts"], by_source["suggestions"]) == (1, 1)
    home, inbox, gate = (shown(client, p) for p in ("/", "/console/inbox/", "/console/gate/"))
    assert number(r"<title>\((\d+)\) Home", home) == total
    for name in ("inbox", "conflicts", "reviews"):
        badge = rf'<span class="badge[^"]*" data-count="{name}">(\d+)<'
        expected = total if name == "inbox" else by_source[name]
        assert number(badge, inbox) == expected
    for name, count in {"inbox": total, **by_source}.items():
        assert number(rf'<span class="num" data-count="{name}">(\d+)<', inbox) == count
    assert number(r'Are these the same\? <span class="badge num">(\d+)<', gate) == 1
    assert gate.count('id="suggestion-') == 1
    detective = shown(client, "/console/detective/")
    assert number(r"Answer (\d+) open question", detective) == 1
    counts = client.get("/console/inbox/counts/").json()
    assert counts == {"inbox": total, **by_source}


@pytest.mark.parametrize("relation", [Relation.SAME, Relation.DIFFERENT])
def test_what_compares_as_different_is_not_merged_by_the_first_button(
    tenant: Tenant, member: Member, relation: Relation
) -> None:
    furnish(tenant)
    with in_workspace(tenant.workspace):
        MergeSuggestion.objects.update(relation=relation)
    client = member("reviewer")
    gate = shown(client, "/console/gate/")
    inbox = shown(client, "/console/inbox/?source=suggestions")
    first = re.search(r'<button name="answer" value="(\w+)" class="primary"', gate)
    assert first is not None
    is_same = relation == Relation.SAME
    assert first[1] == ("accept" if is_same else "reject")
    toned = dict(re.findall(r'name="action" value="(\w+)" class="verdict (\w+)-tone"', inbox))
    assert toned["accept"] == ("keep" if is_same else "calm")
    assert toned["reject"] == ("drop" if is_same else "keep")
