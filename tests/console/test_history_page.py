"""The pages of history: events in words, with what they are about, and no raw ids in the list."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.console.event_fields import fields_of
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.services.lifecycle import forget
from tests.conftest import Tenant
from tests.console.cards import NEW, QUESTION, disagree, remember

Member = Callable[[str], Client]
LIST = "/admin/kernel/event/"
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
TAG = re.compile(r"<[^>]*>")


def words_of(html: str) -> str:
    """Return the words of the list's rows, without markup."""
    rows = html.partition("<tbody")[2].rpartition("</tbody>")[0]
    return " ".join(unescape(TAG.sub(" ", rows)).split())


def test_events_are_told_in_words_without_ids(tenant: Tenant, member: Member) -> None:
    disagree(tenant.workspace)
    shown = words_of(member("reader").get(LIST).content.decode())
    assert "New memory" in shown
    assert NEW in shown
    assert "Conflict opened" in shown
    assert QUESTION in shown
    assert ID.findall(shown) == []
    assert "memory.committed" not in shown


def test_an_event_leads_to_its_memory_and_keeps_its_data(tenant: Tenant, member: Member) -> None:
    memory = remember(tenant.workspace, "The boat house is painted green.")
    with in_workspace(tenant.workspace):
        event = Event.objects.get(type="memory.committed", object_id=str(memory.pk))
    html = member("reader").get(f"{LIST}{event.pk}/change/").content.decode()
    assert f'href="/console/memories/{memory.pk}/"' in html
    assert "The boat house is painted green." in html
    assert "<dt>Outcome</dt><dd>created</dd>" in html
    assert "memory.committed" in html[html.index("<details") :]
    assert "memory.committed" not in html[: html.index("<details")]
    assert "a.m." not in html
    assert "p.m." not in html


def test_the_details_of_an_event_are_in_words(tenant: Tenant) -> None:
    event = Event(
        type="settings.changed",
        data={"gate_threshold": [0.9, 0.875], "janitor_culls": [False, True]},
    )
    assert fields_of(event) == [
        ("Similarity from which two statements may be the same", "0.9, now 0.875"),
        ("Hide what was demoted three times", "no, now yes"),
    ]
    event = Event(
        type="conflict.snoozed",
        data={"until": "2026-05-04T09:30:00+00:00", "verdict": "both_valid", "kept": ["a", "b"],
              "note": "", "at_worst": {"some_share": 0.123456}, "closed_at": "not a time"},
    )  # fmt: skip
    with timezone.override("UTC"):
        assert fields_of(event) == [
            ("Until", "4 May 2026, 09:30"),
            ("Verdict", "both valid"),
            ("Kept", "a, b"),
            ("At worst", "some share: 0.1235"),
            ("Closed at", "not a time"),
        ]


def test_a_forgotten_memory_is_not_quoted(tenant: Tenant, member: Member) -> None:
    memory = remember(tenant.workspace, "The boat house is painted green.")
    forget.forget(tenant.workspace, [memory.pk], actor=SYSTEM, now=timezone.now())
    client = member("admin")
    shown = words_of(client.get(LIST).content.decode())
    assert "Memory forgotten" in shown
    assert "boat house" not in shown
    with in_workspace(tenant.workspace):
        event = Event.objects.filter(type="memory.committed").latest("seq")
    assert "boat house" not in client.get(f"{LIST}{event.pk}/change/").content.decode()


def test_the_list_asks_as_often_for_many_events_as_for_one(tenant: Tenant, member: Member) -> None:
    client = member("reader")

    def count_queries() -> int:
        client.get(LIST)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(LIST).status_code == 200
        return len(captured)

    remember(tenant.workspace, "The boat house is painted green.")
    few = count_queries()
    for number in range(12):
        remember(tenant.workspace, f"Locker {number} of the boat house holds the oars.")
    assert count_queries() == few
