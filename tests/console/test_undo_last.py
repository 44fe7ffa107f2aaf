"""The key of undoing after one has moved on: the last decisions of the visit, or why none."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from unittest.mock import patch
from uuid import uuid4

from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.utils import timezone

from conflicts.models import Conflict
from engram.console.inbox import last as last_undo
from engram.console.inbox.last import GONE, NOTHING, ON_ITS_PAGE
from engram.kernel.last_decision import MOST, SLOT, VISIT, forget_last, keep_last, last_kept
from engram.kernel.models import Membership
from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant
from tests.console.cards import ask, disagree, remember, status
from tests.console.test_conflict_list import BULK, seen
from tests.console.test_inbox import act, ask_for_review, suggest

Member = Callable[[str], Client]
TRIAGE, INBOX = "/console/triage/", "/console/inbox/"
TAKEN = re.compile(r"<template data-undo-last>(.*?)</template>", re.S)


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def taken(client: Client, path: str) -> str:
    """Return what the key of undoing takes on a page without a toast."""
    html = page(client, path)
    assert 'id="done-words"' not in html
    found = TAKEN.search(html)
    assert found is not None
    return found[1]


def press_u(client: Client, path: str) -> str:
    """Undo the last decision as the key does; return where that leads."""
    words = taken(client, path)
    address = re.search(r'action="([^"]+)"', words)
    back = re.search(r'name="back" value="([^"]+)"', words)
    assert address is not None, words
    assert back is not None
    answer = client.post(address[1], {"back": back[1].replace("&amp;", "&")})
    return str(answer["Location"])


def dismiss(tenant: Tenant, client: Client, card: Conflict) -> None:
    with in_workspace(tenant.workspace):
        card.refresh_from_db()
    sent = {"verdict": "dismiss", "version": card.version, "back": TRIAGE}
    assert client.post(f"/console/conflicts/{card.pk}/resolve/", sent).status_code == 302


def two_cards(tenant: Tenant) -> tuple[Conflict, Conflict]:
    days = [remember(tenant.workspace, f"We meet on {d}.", 2) for d in ("Monday", "Friday")]
    return disagree(tenant.workspace)[2], ask(tenant.workspace, days, yes=days[1])


def test_a_decision_is_undone_after_one_has_skipped_on(tenant: Tenant, member: Member) -> None:
    first, second = two_cards(tenant)
    client = member("reviewer")
    dismiss(tenant, client, first)
    assert press_u(client, f"{TRIAGE}?kind=ambiguity&card={second.pk}") == (
        f"{TRIAGE}?kind=ambiguity&card={first.pk}"
    )
    assert status(tenant.workspace, first) == "open"
    assert "Undone: the question is open again." in page(client, f"{TRIAGE}?card={first.pk}")
    assert NOTHING in taken(client, f"{TRIAGE}?card={second.pk}")


def test_it_is_undone_on_the_page_of_another_card_and_in_the_inbox(
    tenant: Tenant, member: Member
) -> None:
    first, second = two_cards(tenant)
    client = member("reviewer")
    here = f"/console/conflicts/{second.pk}/"
    dismiss(tenant, client, first)
    assert press_u(client, here) == f"/console/conflicts/{first.pk}/"
    assert status(tenant.workspace, first) == "open"
    dismiss(tenant, client, first)
    assert press_u(client, f"{INBOX}?q=meet&item=conflicts:{second.pk}") == (
        f"{INBOX}?q=meet&item=conflicts%3A{first.pk}"
    )
    assert status(tenant.workspace, first) == "open"


def test_an_answer_of_the_inbox_is_undone_in_triage_too(tenant: Tenant, member: Member) -> None:
    _, _, suggestion = suggest(tenant)
    client = member("reviewer")
    act(client, "suggestions", suggestion, "reject")
    assert press_u(client, TRIAGE) == f"{INBOX}?item=suggestions%3A{suggestion}"
    assert f'data-key="suggestions:{suggestion}"' in page(client, INBOX)


def test_a_snooze_is_undone_after_one_has_skipped_on(tenant: Tenant, member: Member) -> None:
    first, second = two_cards(tenant)
    _, _, suggestion = suggest(tenant)
    client = member("reviewer")
    client.post(f"/console/conflicts/{first.pk}/snooze/", {"until": "week", "back": TRIAGE})
    assert status(tenant.workspace, first) == "snoozed"
    press_u(client, f"{TRIAGE}?card={second.pk}")
    assert status(tenant.workspace, first) == "open"
    client.post(f"{INBOX}suggestions/{suggestion}/snooze/", {"until": "week", "back": INBOX})
    assert f'data-key="suggestions:{suggestion}"' not in page(client, f"{INBOX}?source=suggestions")
    press_u(client, INBOX)
    assert f'data-key="suggestions:{suggestion}"' in page(client, f"{INBOX}?source=suggestions")


def test_without_a_decision_of_this_visit_nothing_is_undone(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    first, second = two_cards(tenant)
    client = member("reviewer")
    assert NOTHING in taken(client, TRIAGE)
    assert NOTHING in taken(client, INBOX)
    dismiss(tenant, client, first)
    begun, here = timezone.now(), f"{TRIAGE}?card={second.pk}"
    for passed, found in (VISIT / 2, "/undo/"), (VISIT + timedelta(minutes=1), NOTHING):
        with patch.object(last_undo.timezone, "now", return_value=begun + passed):
            assert found in taken(client, here)
    user = User.objects.get(username="reviewer-person")
    Membership.objects.create(workspace=neighbour.workspace, user=user, role="reviewer")
    client.post("/console/switch/", {"workspace": str(neighbour.workspace.pk)})
    assert NOTHING in taken(client, TRIAGE)
    client.post("/console/switch/", {"workspace": str(tenant.workspace.pk)})
    assert "/undo/" in taken(client, f"{TRIAGE}?card={second.pk}")
    assert status(tenant.workspace, first) == "dismissed"


def test_what_another_person_decided_since_is_not_undone(tenant: Tenant, member: Member) -> None:
    first, second = two_cards(tenant)
    client, other = member("reviewer"), member("admin")
    dismiss(tenant, client, first)
    other.post(f"/console/conflicts/{first.pk}/undo/")
    dismiss(tenant, other, first)
    assert GONE in taken(client, f"{TRIAGE}?card={second.pk}")
    assert "/undo/" in taken(other, f"{TRIAGE}?card={second.pk}")


def test_an_answer_that_is_undone_elsewhere_leads_there_and_offers_the_one_before(
    tenant: Tenant, member: Member
) -> None:
    _, _, suggestion = suggest(tenant)
    stated, review = ask_for_review(tenant)
    client = member("reviewer")
    act(client, "suggestions", suggestion, "reject")
    act(client, "reviews", review, "accept")
    words = taken(client, INBOX)
    assert f"Accepted: done as asked. {ON_ITS_PAGE}" in words
    assert f'href="/console/memories/{stated}/"' in words
    assert "Undo the one before" in words
    assert press_u(client, INBOX) == f"{INBOX}?item=suggestions%3A{suggestion}"
    words = taken(client, INBOX)
    assert ON_ITS_PAGE in words
    assert "<form" not in words


def test_each_press_undoes_one_further_decision(tenant: Tenant, member: Member) -> None:
    first, second = two_cards(tenant)
    _, _, suggestion = suggest(tenant)
    client = member("reviewer")
    dismiss(tenant, client, first)
    act(client, "suggestions", suggestion, "reject")
    dismiss(tenant, client, second)
    undone = [press_u(client, INBOX) for _ in range(3)]
    assert undone == [
        f"{INBOX}?item=conflicts%3A{second.pk}",
        f"{INBOX}?item=suggestions%3A{suggestion}",
        f"{INBOX}?item=conflicts%3A{first.pk}",
    ]
    assert NOTHING in taken(client, INBOX)
    assert status(tenant.workspace, first) == "open"


def test_what_is_undone_on_its_card_is_not_undone_by_key_again(
    tenant: Tenant, member: Member
) -> None:
    first, second = two_cards(tenant)
    client = member("reviewer")
    dismiss(tenant, client, first)
    dismiss(tenant, client, second)
    client.post(f"/console/conflicts/{second.pk}/undo/")
    dismiss(tenant, member("admin"), second)
    assert press_u(client, TRIAGE) == f"{TRIAGE}?card={first.pk}"


def test_ten_decisions_of_each_workspace_are_kept_without_their_texts(
    tenant: Tenant, neighbour: Tenant, rf: RequestFactory
) -> None:
    request, now = rf.get("/"), timezone.now()
    request.session = {}  # type: ignore[assignment]
    items = [uuid4() for _ in range(12)]
    for place in (neighbour, tenant):
        request.staff_workspace = SimpleNamespace(  # type: ignore[attr-defined]
            workspace=place.workspace
        )
        for item in items:
            keep_last(request, "conflicts", item, now)
    keep_last(request, "conflicts", items[5], now)
    kept = [one.item for one in last_kept(request, now)]
    assert kept == [items[5], *(one for one in reversed(items[3:]) if one != items[5]), items[2]]
    assert len(request.session[SLOT]) == 2 * MOST
    assert {*request.session[SLOT][0]} == {"workspace", "source", "item", "at"}
    keep_last(request, "conflicts", items[0], now + VISIT + timedelta(minutes=1))
    assert len(request.session[SLOT]) == MOST  # of the other workspace nothing is left
    forget_last(request)
    assert last_kept(request, now) == []


def test_many_cards_are_undone_from_their_list_and_no_older_decision_by_the_key(
    tenant: Tenant, member: Member
) -> None:
    first, second = two_cards(tenant)
    client = member("reviewer")
    dismiss(tenant, client, first)
    many = {"verb": "dismiss", "card": [str(second.pk)]}
    asked = client.post(BULK, many).content.decode()
    client.post(BULK, {**many, **seen(asked)})
    assert status(tenant.workspace, second) == "dismissed"
    assert NOTHING in taken(client, TRIAGE)
