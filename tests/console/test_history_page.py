"""The pages of history: events in words, with what they are about, and no raw ids in the list."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import Conflict
from engram.console.event_fields import LABELLED, WORDED, fields_of
from engram.console.event_objects import FORGOTTEN, GONE
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.models import Event, Membership, Workspace
from engram.kernel.staff import format_moment
from engram.kernel.tenancy import in_workspace
from engram.kernel.visits import PAUSE
from memories.models import ErrorType, JanitorRun, PredictionError
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


def test_the_page_of_an_event_is_headed_by_what_happened(tenant: Tenant, member: Member) -> None:
    remember(tenant.workspace, "The office dog is called Biscuit.")
    with in_workspace(tenant.workspace):
        event = Event.objects.filter(type="memory.committed").latest("seq")
    html = member("reader").get(f"{LIST}{event.pk}/change/").content.decode()
    title, rest = html.partition("<title>")[2].split("</title>")[:2]
    heading = f"New memory, {format_moment(event.at)}"
    assert heading in title
    assert heading in rest
    assert f"vent {event.pk} of" not in html


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
            ("Verdict", "Both are valid"),
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


def test_a_memory_in_doubt_is_named_by_its_text_unless_it_was_forgotten(
    tenant: Tenant, member: Member
) -> None:
    now = timezone.now()
    kept, gone = (remember(tenant.workspace, said) for said in (NEW, "The kiosk shuts at noon."))
    with in_workspace(tenant.workspace):
        for memory in (kept, gone):
            doubt = PredictionError.objects.create(
                error_type=ErrorType.MEMORY_DRIFT, memory=memory, source="notes", detected_at=now,
                last_seen_at=now,
            )  # fmt: skip
            data = {"error_type": doubt.error_type}
            record(
                "drift.found", of=("prediction_error", doubt.pk), actor=SYSTEM, now=now, data=data
            )
    forget.forget(tenant.workspace, [gone.pk], actor=SYSTEM, now=now)
    told = words_of(member("reader").get(LIST).content.decode())
    assert f"Memory put in doubt {NEW}" in told
    assert "Memory put in doubt memory in doubt" in told
    assert "kiosk" not in told


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


def told(workspace: Workspace, type_: str, kind: str, data: dict[str, Any]) -> dict[str, str]:
    """Return the fields of an event of a workspace, by title."""
    with in_workspace(workspace):
        return dict(fields_of(Event(type=type_, object_type=kind, data=data)))


def test_what_an_event_names_by_id_is_linked_and_in_words(tenant: Tenant) -> None:
    workspace, now = tenant.workspace, timezone.now()
    shown = remember(workspace, "The ferry takes bicycles.")
    gone = remember(workspace, "The pier closes at dusk.")
    disagree(workspace)
    with in_workspace(workspace):
        card = Conflict.objects.get()
        run = JanitorRun.objects.create(started_at=now)
        statement = shown.observations.get()
    forget.forget(workspace, [gone.pk], actor=SYSTEM, now=now)
    found = told(workspace, "memory.superseded", "memory", {
        "by": str(shown.pk), "other": str(gone.pk), "conflict": str(card.pk), "run": str(run.pk),
        "observation": str(statement.pk), "source": "2f1c8b52-4bb0-4a11-9f0c-3a7de08e1c55",
        "kept": [str(shown.pk), "plain"], "undo": True,
    })  # fmt: skip
    link = f'<a href="/console/memories/{shown.pk}/">The ferry takes bicycles.</a>'
    assert found["Superseded by"] == link
    assert found["Kept"] == f"{link}, plain"
    assert FORGOTTEN in found["Other memory"]
    assert found["Source"] == GONE
    assert f'href="/console/conflicts/{card.pk}/"' in found["Conflict"]
    assert f'href="/admin/memories/janitorrun/{run.pk}/change/"' in found["Run of the janitor"]
    assert re.search(r">stated \d+ \w+ \d{4}, \d\d:\d\d<", found["Statement"])
    assert found["Because something was undone"] == "yes"
    assert [value for value in found.values() if ID.search(TAG.sub("", value))] == []


def test_an_event_names_nothing_of_another_workspace(tenant: Tenant, neighbour: Tenant) -> None:
    theirs = remember(neighbour.workspace, "The vault opens at nine.")
    found = told(tenant.workspace, "memory.superseded", "memory", {"by": str(theirs.pk)})
    assert found == {"Superseded by": GONE}


def test_codes_of_events_are_labelled(tenant: Tenant) -> None:
    cases = [
        ("review.opened", {"kind": "supersede"}, {"Kind": "Replace a more trusted memory"}),
        ("session.judged", {"kind": "offline"}, {"Kind": "The offline judge"}),
        ("conflict.opened", {"kind": "stale"}, {"Kind": "Stale"}),
        ("comparison.recorded", {"phase": "warming"}, {"Phase": WORDED["phase"]["warming"]}),
        ("training.finished", {"reason": "first"}, {"Reason": "enough judged to begin"}),
    ]
    for type_, data, expected in cases:
        assert told(tenant.workspace, type_, "x", data) == expected
    for kinds in LABELLED.values():
        codes = [code for choices in kinds for code in choices.values]
        assert len(codes) == len(set(codes))


def test_the_verdict_of_a_conflict_is_told_by_what_it_kept(tenant: Tenant, member: Member) -> None:
    """The label of a button, such as "Yes, it still holds", says little beside no question."""
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")

    def details(type_: str) -> str:
        with in_workspace(tenant.workspace):
            event = Event.objects.filter(type=type_).latest("seq")
        shown = client.get(f"{LIST}{event.pk}/change/").content.decode()
        return " ".join(TAG.sub(" ", shown).split())

    for verdict, done in (("yes", "kept 5000"), ("dismiss", "not a conflict")):
        answer = tenant.reviewer.post(f"conflicts/{card.pk}/resolve", {"verdict": verdict})
        assert answer.status_code == 200
        assert f"Verdict {done}" in details("conflict.resolved")
        client.post(f"/console/conflicts/{card.pk}/undo/")
        assert f"Verdict that was undone {done}" in details("conflict.reopened")


def test_an_event_of_many_objects_asks_as_often_as_one_of_one(tenant: Tenant) -> None:
    def count_queries(ids: list[str]) -> int:
        with CaptureQueriesContext(connection) as captured:
            told(tenant.workspace, "memory.superseded", "memory", {"kept": ids})
        return len(captured)

    ids = [str(remember(tenant.workspace, f"Oar {n} is of ash.").pk) for n in range(9)]
    assert count_queries(ids) == count_queries(ids[:1])


def test_history_is_found_by_the_words_of_what_happened(tenant: Tenant, member: Member) -> None:
    remember(tenant.workspace, "The boat house is painted green.")
    client = member("reader")
    assert "boat house" in words_of(client.get(LIST, {"q": "new memory"}).content.decode())
    assert "boat house" in words_of(client.get(LIST, {"q": "memory.committed"}).content.decode())
    assert "boat house" not in words_of(client.get(LIST, {"q": "forgotten"}).content.decode())
    html = client.get(LIST).content.decode()
    assert "Actor kind" not in html
    assert "Object type" not in html


def test_what_home_counts_since_the_last_visit_is_what_the_list_shows(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    remember(tenant.workspace, "The boat house is painted green.")
    client = member("reader")
    client.get("/")
    long_ago = timezone.now() - 2 * PAUSE
    with in_workspace(tenant.workspace):
        Event.objects.update(at=long_ago - PAUSE)
    Membership.objects.filter(user__username="reader-person").update(seen_at=long_ago)
    remember(tenant.workspace, "The slipway is closed in March.")
    remember(neighbour.workspace, "The slipway is closed in April.")
    home = client.get("/").content.decode()
    link = re.search(r'<a href="([^"]+)">1 commit</a>', home)
    assert link is not None
    html = client.get(unescape(link[1])).content.decode()
    assert "slipway is closed in March" in words_of(html)
    assert "boat house" not in words_of(html)
    assert "April" not in words_of(html)
    assert "New memory" in html
    assert "memory.committed" not in TAG.sub(" ", html)
    reader = User.objects.get(username="reader-person")
    with in_workspace(tenant.workspace):
        Event.objects.update(actor_kind="user", actor_id=str(reader.pk))
    assert "slipway" not in words_of(client.get(unescape(link[1])).content.decode())


def test_a_moment_that_is_none_shows_the_whole_list(tenant: Tenant, member: Member) -> None:
    remember(tenant.workspace, "The boat house is painted green.")
    client = member("reader")
    for said in ("yesterday", "2026-13-01", "9" * 400):
        answer = client.get(LIST, {"since": said}, follow=True)
        assert answer.status_code == 200
        assert "boat house" in words_of(answer.content.decode())
