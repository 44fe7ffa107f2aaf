"""The tabs of the inbox under a filter, the place of what waits no longer, and a change of kind."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant
from tests.console.cards import disagree
from tests.console.test_inbox import INBOX, act, ask_for_review, page, suggest

Member = Callable[[str], Client]
TAB = re.compile(r'<nav class="tabs by-kind".*?</nav>', re.S)
PLACE = re.compile(r'<nav class="stepper".*?<span class="num">([^<]*)</span>', re.S)


def tabs(html: str) -> list[int]:
    """Return the counts of the tabs that are not 0; the first is that of all."""
    found = TAB.search(html)
    assert found is not None
    return [n for n in map(int, re.findall(r'class="num"[^>]*>(\d+)<', found[0])) if n]


def place(html: str) -> str:
    found = PLACE.search(html)
    assert found is not None
    return found[1]


def test_tabs_count_what_the_filters_find(tenant: Tenant, member: Member) -> None:
    suggest(tenant)
    ask_for_review(tenant)
    client = member("reviewer")
    assert tabs(page(client)) == [2, 1, 1]
    html = page(client, f"{INBOX}?q=deploy")
    assert (tabs(html), place(html)) == ([1, 1], "1 of 1")
    assert "data-count" not in TAB.search(html)[0]  # type: ignore[index]  # live counts are of all
    assert tabs(page(client, f"{INBOX}?q=deploy&source=reviews")) == [1, 1]
    assert tabs(page(client, f"{INBOX}?source=reviews")) == [2, 1, 1]
    assert tabs(page(client, f"{INBOX}?q=elephant")) == []


def test_what_is_decided_or_snoozed_has_no_place(tenant: Tenant, member: Member) -> None:
    _, _, suggestion = suggest(tenant)
    _, review = ask_for_review(tenant)
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    assert place(page(client, f"{INBOX}?item=reviews:{review}")) == "2 of 3"
    act(client, "reviews", review, "reject")
    assert place(page(client, f"{INBOX}?item=reviews:{review}")) == "decided"
    client.post(f"{INBOX}suggestions/{suggestion}/snooze/", {"until": "week", "back": INBOX})
    assert place(page(client, f"{INBOX}?item=suggestions:{suggestion}")) == "snoozed"
    client.post(f"/console/conflicts/{card.pk}/snooze/", {"until": "week"})
    assert place(page(client, f"{INBOX}?item=conflicts:{card.pk}")) == "snoozed"
    assert place(page(client, f"/console/triage/?card={card.pk}")) == "snoozed"
    client.post(f"/console/conflicts/{card.pk}/undo/")
    with in_workspace(tenant.workspace):
        card.refresh_from_db()
    client.post(
        f"/console/conflicts/{card.pk}/resolve/", {"verdict": "dismiss", "version": card.version}
    )
    assert place(page(client, f"{INBOX}?item=conflicts:{card.pk}")) == "decided"


def test_a_filter_takes_the_same_queries_for_one_item_and_many(
    tenant: Tenant, member: Member
) -> None:
    client = member("reviewer")
    asked = []
    for number in range(1, 4):
        for word in range(number * 2):
            stated = tenant.agent.post(
                "memories",
                {"content": f"Pump {number}{word} is red.", "provenance": "user_stated"},
            ).json()["memory"]["id"]
            tenant.agent.patch(f"memories/{stated}", {"content": f"Pump {number}{word} is blue."})
        with CaptureQueriesContext(
            connection,
        ) as found:
            html = page(client, f"{INBOX}?q=pump&source=reviews")
        asked.append(len(found))
    assert tabs(html)[0] == 12
    assert asked[1] == asked[2]


def test_an_answer_that_leads_to_another_kind_says_so(tenant: Tenant, member: Member) -> None:
    suggest(tenant)
    _, review = ask_for_review(tenant)
    client = member("reviewer")
    led = act(client, "reviews", review, "reject")["Location"]
    html = page(client, led)
    words = re.search(r'id="done-words">(.*?)</span>', html, re.S)
    assert words is not None
    assert "Next: a duplicate, with other answers." in words[1]
    assert 'aria-describedby="done-words"' in html
    assert "Next: a" not in page(client, f"{INBOX}?done=reviews:{review}&item=reviews:{review}")
