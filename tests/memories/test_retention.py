"""What is older than a workspace keeps it is deleted: counted before, in batches, and told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event, Job, Workspace
from engram.kernel.services import change_settings
from engram.kernel.tenancy import in_workspace
from memories import tasks
from memories.models import (
    CoRecall,
    ExtractedQuote,
    ExtractionRefusal,
    Memory,
    RecallDay,
    RecallRecord,
    Session,
)
from memories.services.retention import apply
from memories.services.retention.apply import apply_retention, due_workspaces
from memories.services.retention.due import preview
from memories.services.sessions.end import end_session
from predictor.models import Judgement
from tests.conftest import NOW, Tenant, build_tenant
from tests.killing import kill_at
from tests.memories.session_world import AGENT, begin, remember

CANARY = "zyzzyvaquux"
DAY = timedelta(days=1)


def keep(tenant: Tenant, **days: Any) -> None:
    names = {f"retention_{name}_days": value for name, value in days.items()}
    change_settings(tenant.workspace, names, actor=SYSTEM, now=NOW)


def talk(tenant: Tenant, key: str, *, days: float) -> None:
    """Hold a session that ended so many days before NOW."""
    at = NOW - timedelta(days=days)
    begin(tenant, key, now=at, context="the deploy")
    end_session(tenant.workspace, key, f"User: {CANARY} {key}", actor=AGENT, now=at)


def applied(tenant: Tenant, now: datetime = NOW, seconds: float = 60) -> bool:
    return apply_retention(Workspace.objects.get(pk=tenant.workspace.pk), now=now, seconds=seconds)


def transcripts(tenant: Tenant) -> dict[str, bool]:
    """Return the sessions, and whether they have a transcript."""
    with in_workspace(tenant.workspace):
        return {row.session_key: bool(row.transcript) for row in Session.objects.all()}


def told(tenant: Tenant, kind: str) -> list[int]:
    """Return the counts that the history tells, oldest first."""
    with in_workspace(tenant.workspace):
        events = Event.objects.filter(type=apply.EVENT).order_by("seq")
        assert {event.actor_kind for event in events} <= {"system"}
        return [event.data[kind] for event in events if kind in event.data]


def due(tenant: Tenant, now: datetime = NOW, **changes: Any) -> dict[str, int]:
    workspace = Workspace.objects.get(pk=tenant.workspace.pk)
    return {one.kind: one.due for one in preview(workspace, now=now, changes=changes)}


def test_everything_is_kept_unless_days_are_set(tenant: Tenant) -> None:
    talk(tenant, "old", days=3000)
    assert due(tenant) == {"sessions": 0, "transcripts": 0, "recalls": 0, "queries": 0}
    assert applied(tenant)
    assert transcripts(tenant) == {"old": True}
    assert due_workspaces(NOW) == []


def test_transcripts_go_and_their_sessions_stay(tenant: Tenant, neighbour: Tenant) -> None:
    for each in (tenant, neighbour):
        talk(each, "old", days=31)
        talk(each, "young", days=29)
        begin(each, "open", now=NOW - 60 * DAY)
    keep(tenant, transcript=30)
    assert due(tenant)["transcripts"] == 1
    assert due_workspaces(NOW) == [tenant.workspace]
    assert applied(tenant)
    assert transcripts(tenant) == {"old": False, "young": True, "open": False}
    assert transcripts(neighbour) == {"old": True, "young": True, "open": False}
    assert told(tenant, "transcripts") == [1]
    assert (due(tenant)["transcripts"], due_workspaces(NOW)) == (0, [])
    assert applied(tenant)
    assert told(tenant, "transcripts") == [1]  # nothing more to tell
    with in_workspace(tenant.workspace):
        old = Session.objects.get(session_key="old")
        assert (old.transcript_digest, old.context) == ("", "the deploy")


def test_what_was_quoted_of_a_transcript_goes_with_it(tenant: Tenant) -> None:
    memory = remember(tenant, "The deploy runs on Fridays.")
    talk(tenant, "old", days=31)
    keep(tenant, transcript=30)
    with in_workspace(tenant.workspace):
        job = Job.objects.create(
            kind="extraction", caller="key:1", role="agent", created_at=NOW, finished_at=NOW
        )
        quoted = {"session_key": "old", "job": job}
        ExtractedQuote.objects.create(memory_id=memory, text=CANARY, **quoted)
        ExtractionRefusal.objects.create(
            text=CANARY, reason="too_vague", worth=0.2, confidence=0.3,
            provenance="user_stated", position=4, created_at=NOW, **quoted,
        )  # fmt: skip
        Judgement.objects.filter(session__session_key="old").update(
            raw={"reasoning": CANARY, "relevance": [1]}, missing_topics=[CANARY]
        )
        assert Judgement.objects.count() == 1
    assert applied(tenant)
    with in_workspace(tenant.workspace):
        assert not ExtractedQuote.objects.exists()
        assert not ExtractionRefusal.objects.exists()
        judgement = Judgement.objects.get()
        assert (judgement.raw, judgement.missing_topics) == ({"relevance": [1]}, [])
        assert Memory.objects.filter(pk=memory).exists()


def test_sessions_go_as_if_an_admin_had_deleted_them(tenant: Tenant, neighbour: Tenant) -> None:
    for each in (tenant, neighbour):
        talk(each, "old", days=91)
        talk(each, "young", days=89)
        begin(each, "open", now=NOW - 200 * DAY)
    keep(tenant, session=90)
    assert due(tenant)["sessions"] == 1
    assert applied(tenant)
    assert transcripts(tenant) == {"young": True, "open": False}
    assert transcripts(neighbour) == {"old": True, "young": True, "open": False}
    assert told(tenant, "sessions") == [1]
    with in_workspace(tenant.workspace):
        event = Event.objects.get(type="session.deleted")
        assert (event.actor_kind, event.session_key) == ("system", "old")


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Lima", "UTC"])
def test_counts_of_a_day_go_when_all_of_it_is_old(tenant: Tenant, zone: str) -> None:
    """Counts are of days of UTC; where the local day begins before, they hold hours to keep."""
    change_settings(tenant.workspace, {"time_zone": zone}, actor=SYSTEM, now=NOW)
    keep(tenant, recall=30)
    since = datetime(2026, 4, 4, tzinfo=ZoneInfo(zone))  # 30 days before NOW's local day
    kept = since.astimezone(UTC).date()
    with in_workspace(tenant.workspace):
        for day in (kept - DAY, kept):
            RecallDay.objects.create(day=day, recalls=1)
    assert applied(tenant)
    with in_workspace(tenant.workspace):
        assert list(RecallDay.objects.values_list("day", flat=True)) == [kept]


def test_records_of_recalls_go_by_their_days(tenant: Tenant, neighbour: Tenant) -> None:
    for each in (tenant, neighbour):
        ids = sorted(remember(each, f"Shelf {n} holds {n * 7} jars.") for n in range(3))
        with in_workspace(each.workspace):
            for days in (31, 29):
                at = NOW - timedelta(days=days)
                RecallDay.objects.create(day=at.date(), recalls=days)
                RecallRecord.objects.create(memory_ids=ids, at=at)
                CoRecall.objects.create(
                    first_id=ids[0], second_id=ids[1 if days == 31 else 2], weight=1,
                    since=NOW - 90 * DAY, reinforced_at=at,
                )  # fmt: skip
    keep(tenant, recall=30)
    assert due(tenant)["recalls"] == 3
    assert applied(tenant)
    for each, left in ((tenant, 1), (neighbour, 2)):
        with in_workspace(each.workspace):
            assert [m.objects.count() for m in (RecallDay, RecallRecord, CoRecall)] == [left] * 3
    with in_workspace(tenant.workspace):
        assert RecallDay.objects.get().recalls == 29
    assert told(tenant, "recalls") == [3]


@pytest.mark.parametrize(
    ("zone", "gone"),
    [("UTC", False), ("Pacific/Kiritimati", True), ("Pacific/Pago_Pago", True)],
)
def test_a_limit_passes_with_the_local_midnight(tenant: Tenant, zone: str, gone: bool) -> None:
    """NOW is noon of 4 May in UTC: 5 May 02:00 on Kiritimati, 4 May 01:00 in Pago Pago.

    The session ended on 4 April at 09:30 in UTC, at 23:30 on Kiritimati, on the 3rd in Pago Pago.
    """
    change_settings(tenant.workspace, {"time_zone": zone}, actor=SYSTEM, now=NOW)
    ended = datetime(2026, 4, 4, 9, 30, tzinfo=UTC)
    talk(tenant, "talk", days=(NOW - ended) / DAY)
    keep(tenant, transcript=30)
    assert (due(tenant)["transcripts"] == 1) is gone


def test_days_are_local_when_clocks_change(tenant: Tenant) -> None:
    change_settings(tenant.workspace, {"time_zone": "Europe/Berlin"}, actor=SYSTEM, now=NOW)
    keep(tenant, transcript=1)
    workspace = Workspace.objects.get(pk=tenant.workspace.pk)
    spring = datetime(2026, 3, 30, 12, tzinfo=UTC)  # the clocks went forward on the 29th
    [limit] = [one for one in preview(workspace, now=spring) if one.kind == "transcripts"]
    assert limit.keeps_since == datetime(2026, 3, 28, 23, tzinfo=UTC)


def test_batches_end_when_the_time_is_over(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(apply._BATCHES, "transcripts", (apply.delete_transcripts, 2))
    monkeypatch.setattr(apply, "TRANSCRIPTS_A_BATCH", 2)
    for number in range(5):
        talk(tenant, f"talk {number}", days=31)
    keep(tenant, transcript=30)
    assert not applied(tenant, seconds=0)
    assert not applied(tenant, seconds=0)
    assert applied(tenant, seconds=0)
    assert told(tenant, "transcripts") == [2, 2, 1]
    assert not any(transcripts(tenant).values())


def test_the_sweep_wakes_where_something_is_due_and_the_task_deletes(
    tenant: Tenant, neighbour: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = timezone.now() - 40 * DAY
    for each in (tenant, neighbour):
        talk(each, "old", days=(NOW - at) / DAY)
        keep(each, transcript=30)
    keep(neighbour, transcript=50)
    woken: list[Any] = []
    monkeypatch.setattr(tasks, "wake", lambda task, *ids: woken.append((task, *ids)))
    tasks.wake_retention()
    assert woken == [(apply.TASK, tenant.workspace.pk)]
    tasks.apply_retention(str(tenant.workspace.pk))
    assert (transcripts(tenant), transcripts(neighbour)) == ({"old": False}, {"old": True})
    tasks.wake_retention()
    assert len(woken) == 1
    tasks.apply_retention("00000000-0000-4000-8000-000000000000")  # deleted meanwhile


def test_a_batch_takes_the_same_statements_for_one_and_many(tenant: Tenant) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert apply.delete_recalls(tenant.workspace, NOW, NOW) == rows
        return len(captured)

    counts = []
    for rows in (1, 40):
        with in_workspace(tenant.workspace):
            RecallDay.objects.bulk_create(
                RecallDay(day=(NOW - timedelta(days=n + 1)).date()) for n in range(rows)
            )
        counts.append(statements())
    assert counts[0] == counts[1]


@pytest.mark.parametrize("value", [0, -1, 36_501, "30", 1.5, True, [], "never"])
def test_days_that_are_none_are_refused(tenant: Tenant, value: Any) -> None:
    sent = {"retention_transcript_days": value}
    answer = tenant.admin.patch("workspace/settings", sent)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "retention_transcript_days"
    assert tenant.reader.get("workspace/settings").json()["settings"][
        "retention_transcript_days"
    ] is None  # fmt: skip


def test_days_are_set_and_emptied_by_the_settings(tenant: Tenant) -> None:
    for value in (30, None):
        answer = tenant.admin.patch("workspace/settings", {"retention_session_days": value})
        assert answer.status_code == 200
        [told] = [
            one for one in answer.json()["describe"] if one["name"] == "retention_session_days"
        ]
        assert (told["value"], told["default"]) == (value, None)
        assert told["range"] == {
            "at_least": 1, "at_most": 36_500, "type": "integer", "or_null": True,
        }  # fmt: skip


def test_the_api_counts_before(tenant: Tenant, neighbour: Tenant) -> None:
    for each in (tenant, neighbour):
        talk(each, "old", days=0)
    path = "workspace/retention"
    body = tenant.reader.get(path).json()
    assert body["time_zone"] == "UTC"
    assert [(one["kind"], one["days"], one["due"]) for one in body["limits"]] == [
        ("sessions", None, 0), ("transcripts", None, 0), ("recalls", None, 0), ("queries", 30, 0),
    ]  # fmt: skip
    tried = tenant.reader.get(path, {"retention_transcript_days": 1}).json()["limits"][1]
    assert (tried["setting"], tried["days"], tried["due"]) == ("retention_transcript_days", 1, 1)
    assert transcripts(tenant) == {"old": True}
    for wrong in ("0", "x", "", "36501", "1.5"):
        answer = tenant.reader.get(path, {"retention_transcript_days": wrong})
        assert answer.status_code == 422, wrong
    assert tenant.reader.get(path, {"retention": 1}).status_code == 422


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that other processes see."""
    return build_tenant("busy")


STEPS = {"within a batch": "erase_extracted_of", "between two sessions": "delete_session"}


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_worker_leaves_the_rest_to_the_next(shared_tenant: Tenant, step: str) -> None:
    days = (NOW - (timezone.now() - 40 * DAY)) / DAY
    for key in ("one", "two"):
        talk(shared_tenant, key, days=days)
    keep(shared_tenant, **{"transcript" if step == "within a batch" else "session": 30})
    module = "memories.services.retention.apply"
    kill_at(shared_tenant, "memories.tasks.apply_retention", module, STEPS[step], "after")
    left = transcripts(shared_tenant)
    assert len(left) == (2 if step == "within a batch" else 1)
    assert all(left.values())  # of a batch that was not committed
    assert applied(shared_tenant, timezone.now())
    assert not any(transcripts(shared_tenant).values())
