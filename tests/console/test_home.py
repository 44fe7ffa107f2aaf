"""The home page: what needs the person, live figures, what changed meanwhile, health."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import DetectionRun
from conflicts.services.detection.detect import detect_due
from engram.console import feed
from engram.console.changes import LONGEST, changes_since
from engram.console.inbox import queue, registry
from engram.console.inbox.source import WaitingCount
from engram.console.overview import overview
from engram.console.settings_form import LABELS
from engram.console.sparklines import sparkline
from engram.console.wording import words_for
from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.history import record
from engram.kernel.models import Event, Membership, Role
from engram.kernel.tenancy import in_workspace
from engram.kernel.visits import GRAIN, PAUSE, note_visit
from memories.models import JanitorRun, Memory, PredictionError, RecallDay, Session
from predictor.models import PredictorState, Training, TrainingLease, TrainingStatus
from predictor.services.status.progress import training_progress
from tests.conftest import NOW, Tenant
from tests.console.cards import NEW, OLD, QUESTION, disagree, remember

Member = Callable[[str], Client]
MINUTE = timedelta(minutes=1)


def figures_of(html: str) -> dict[str, str]:
    return dict(re.findall(r'data-number="(\w+)">(\d+)<', html))


def needs_in(html: str) -> tuple[str, list[str]]:
    """Return the sentence about what waits, and its parts."""
    section = html[html.index('id="needs"') : html.index("</section>", html.index('id="needs"'))]
    title = re.search(r'id="needs-title">(?:<svg.*?</svg>)?\s*([^<]+)<', section, re.DOTALL)
    assert title is not None
    return title[1], re.findall(r'<li><a href="[^"]+">.*?</svg>([^<]+)</a>', section, re.DOTALL)


def test_an_empty_workspace_is_shown_its_first_commit(tenant: Tenant, member: Member) -> None:
    html = member("admin").get("/").content.decode()
    assert "Commit the first memory" in html
    assert "curl http://testserver/api/v1/memories" in html
    assert needs_in(html) == ("Nothing needs you", [])
    assert "<title>Home · Engram</title>" in html
    assert set(figures_of(html).values()) == {"0"}


def test_what_is_counted_and_told_is_of_this_workspace(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    disagree(neighbour.workspace)
    disagree(tenant.workspace)
    client = member("reviewer")
    html = client.get("/").content.decode()
    expected = {"memories": "2", "commits": "2", "recalls": "0", "queue": "2"}
    assert figures_of(html) == expected
    assert [html.count(text) for text in (QUESTION, OLD, NEW)] == [1, 1, 1]
    assert "Commit the first memory" not in html
    live = client.get("/console/numbers/").content.decode()
    assert figures_of(live) == expected
    assert needs_in(live) == needs_in(html) == ("1 item needs you", ["1 conflict"])


def test_what_needs_one_is_counted_as_in_the_inbox_with_plurals(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = {"conflicts": 9, "reviews": 1, "suggestions": 17, "calibration": 28, "drift": 2}
    counted = {
        source.name: WaitingCount(waiting.get(source.name, 0)) for source in registry.SOURCES
    }
    monkeypatch.setattr(queue, "tallies", lambda _sources, _now: counted)
    html = member("reviewer").get("/").content.decode()
    assert needs_in(html) == (
        "57 items need you",
        ["9 conflicts", "1 review", "2 memories in doubt", "17 duplicates", "28 ratings"],
    )
    assert "<title>(57) Home · Engram</title>" in html
    tabs = [source.title for source in registry.SOURCES]
    assert [tabs[n] for n in (0, 2, 3, 4)] == [
        "Conflicts", "Memories in doubt", "Duplicates", "Ratings",
    ]  # fmt: skip
    assert 'href="/console/inbox/?source=suggestions"' in html
    assert 'data-count="inbox">57<' in html


@pytest.mark.parametrize("role", [Role.READER, Role.AGENT])
def test_who_may_not_decide_is_told_who_is_waited_for(
    tenant: Tenant, member: Member, role: Role
) -> None:
    disagree(tenant.workspace)
    html = member(role.value).get("/").content.decode()
    assert needs_in(html) == ("1 item waits for a reviewer", ["1 conflict"])


@pytest.mark.parametrize("path", ["/", "/console/numbers/", "/console/numbers/?health=1"])
def test_home_asks_as_often_for_many_as_for_one(tenant: Tenant, member: Member, path: str) -> None:
    disagree(tenant.workspace)
    client = member("reviewer")
    client.get("/")
    with CaptureQueriesContext(connection) as one:
        client.get(path)
    for number in range(20):
        remember(tenant.workspace, f"Part {number} is made of item{number}.")
    with CaptureQueriesContext(connection) as many:
        client.get(path)
    assert len(many) == len(one)


def test_every_figure_is_marked_with_its_time(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    html = client.get("/").content.decode()
    assert re.search(r'Figures of <time id="as-of" datetime="[^"]+">\d\d:\d\d:\d\d</time>', html)
    health = html[html.index('id="health"') : html.index("</section>", html.index('id="health"'))]
    assert re.search(r"<time [^>]+>\d\d:\d\d:\d\d</time>", health)
    assert len(re.findall(r"<li class=", health)) == 8
    assert 'id="health"' not in client.get("/console/numbers/").content.decode()


def test_sparklines_span_the_box_and_are_columns_where_values_are_unknown() -> None:
    drawn = sparkline([0, 4, 2])
    assert drawn.line == "M0.0 53.0L0.0 53.0L120.0 3.0L240.0 28.0"
    assert (drawn.peak, drawn.area) == (4, f"{drawn.line}L240 56L0 56Z")
    assert sparkline([0, 0]).line == "M0.0 53.0L0.0 53.0L240.0 53.0"
    open_line = sparkline([None, 2.0, None, 1.0])
    assert open_line.columns == "M69.0 56V3.0H111.0V56ZM189.0 56V28.0H231.0V56Z"
    assert (open_line.peak, open_line.line, open_line.area) == (2.0, "", "")
    assert sparkline([None, 0]).columns == "M138.0 56V53.0H222.0V56Z"  # 0 is seen, too
    for empty in ([None], []):
        assert (sparkline(empty).line, sparkline(empty).columns, sparkline(empty).peak) == (
            "", "", 0,
        )  # fmt: skip


def test_a_single_known_value_is_told_and_not_drawn_as_a_dot(
    tenant: Tenant, member: Member
) -> None:
    assert sparkline([None, 2.0, None]).is_single
    assert not any(sparkline(values).is_single for values in ([None], [1.0, None, 2.0], [0, 0]))
    with in_workspace(tenant.workspace):
        DetectionRun.objects.create(reason="commit", created_at=timezone.now(), lag_seconds=4)
    client = member("reader")
    tile = _tile(client.get("/").content.decode(), "figure-lag")
    assert "one hour measured so far" in tile
    with in_workspace(tenant.workspace):
        run = DetectionRun.objects.get()
    assert f'<a href="/admin/conflicts/detectionrun/{run.pk}/change/">last run <time' in tile
    assert "<svg" not in tile
    earlier = timezone.now() - timedelta(hours=3)
    with in_workspace(tenant.workspace):
        DetectionRun.objects.create(reason="commit", created_at=earlier, lag_seconds=2)
    drawn = _tile(client.get("/console/numbers/").content.decode(), "figure-lag")
    assert "<svg" in drawn
    assert len(re.findall(r'class="columns" d="(M[^"M]*){2}"', drawn)) == 1
    assert 'class="stroke"' not in drawn
    assert "so far" not in drawn


def test_the_queue_says_that_its_drawing_is_of_what_was_read(
    tenant: Tenant, member: Member
) -> None:
    with in_workspace(tenant.workspace):
        DetectionRun.objects.create(reason="commit", created_at=timezone.now(), trigger_count=1234)
    tile = _tile(member("reader").get("/").content.decode(), "figure-queue")
    assert "nothing waits to be read; line: 1,234 read in the busiest of 24 h" in tile


def _tile(html: str, name: str) -> str:
    start = html.index(f'id="{name}"')
    return html[start : html.index('id="', start + 1)]


def test_recalls_are_counted_by_day_and_before_they_are_counted(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        RecallDay.objects.create(workspace=tenant.workspace, day=NOW.date(), recalls=3)
        yesterday = NOW.date() - timedelta(days=1)
        RecallDay.objects.create(workspace=tenant.workspace, day=yesterday, recalls=5)
        shown = overview(tenant.workspace, NOW).recalls
        assert (shown.today, shown.sparkline.values) == (3, (*[0] * 12, 5, 3))
    remember(tenant.workspace, "The kiln fires at 1240 degrees.")
    tenant.reader.post("memories/recall", {"query": "kiln"})
    with in_workspace(tenant.workspace):
        assert overview(tenant.workspace, timezone.now()).recalls.today == 1


def test_detection_shows_what_was_read_and_how_long_it_waited(tenant: Tenant) -> None:
    tenant.agent.post("memories", {"content": "The kiln fires at 1240 degrees."})
    with in_workspace(tenant.workspace):
        waiting = overview(tenant.workspace, timezone.now()).detection
        assert (waiting.depth, waiting.last_run, waiting.lag_median) == (1, None, None)
        assert waiting.waits_seconds is not None
        assert set(waiting.lag.values) == {None}
    detect_due(tenant.workspace, clock=timezone.now)
    with in_workspace(tenant.workspace):
        done = overview(tenant.workspace, timezone.now()).detection
        run = DetectionRun.objects.get()
        assert (done.depth, done.waits_seconds, done.last_run) == (0, None, run)
        assert sum(value or 0 for value in done.read.values) == 1
        assert done.lag.peak == done.lag_median == run.lag_seconds


def test_the_way_to_the_next_training_is_shown(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        first = training_progress(tenant.workspace, now=NOW)
        assert (first.share, first.done, first.wanted) == (0.0, 0, 10)
        PredictorState.objects.create(workspace=tenant.workspace, scored_sessions=7, updated_at=NOW)
        on_the_way = training_progress(tenant.workspace, now=NOW)
        assert (on_the_way.share, on_the_way.done, on_the_way.wanted) == (0.7, 7, 10)
        TrainingLease.objects.create(workspace=tenant.workspace, due_at=NOW, reason="first")
        assert training_progress(tenant.workspace, now=NOW).share == 1.0
        running = Training.objects.create(
            workspace=tenant.workspace, reason="first", started_at=NOW, progress=0.4
        )
        TrainingLease.objects.update(holder=running.pk, heartbeat_at=NOW)
        shown = training_progress(tenant.workspace, now=NOW)
        assert (shown.awaited.is_running, shown.share) == (True, 0.4)
    tenant.workspace.settings = {"predictor_mode": "off"}
    tenant.workspace.save()
    tenant.workspace.read_settings()
    with in_workspace(tenant.workspace):
        TrainingLease.objects.all().delete()
        assert training_progress(tenant.workspace, now=NOW).share is None


def test_a_visit_ends_after_a_pause_and_the_next_begins_there(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    member("reader")
    user = User.objects.get(username="reader-person")
    Membership.objects.create(workspace=neighbour.workspace, user=user, role=Role.READER)

    def visit(at: datetime) -> datetime | None:
        return note_visit(tenant.workspace, user.pk, at).after

    start = datetime(2026, 5, 4, 9, tzinfo=UTC)
    assert visit(start) is None
    assert visit(start + 10 * MINUTE) is None  # the first visit goes on
    left = start + 10 * MINUTE
    assert visit(left + PAUSE) == left
    assert visit(left + PAUSE + GRAIN / 2) == left  # also when the page is loaded again
    assert visit(left + PAUSE + 5 * MINUTE) == left
    assert visit(left + PAUSE + 5 * MINUTE + PAUSE) == left + PAUSE + 5 * MINUTE
    other = Membership.objects.get(workspace=neighbour.workspace, user=user)
    assert (other.seen_at, other.seen_before_at) == (None, None)
    assert note_visit(tenant.workspace, 0, start) == (None, False)


def test_what_others_changed_since_is_told_and_own_work_is_not(
    tenant: Tenant, neighbour: Tenant
) -> None:
    me = Actor(kind="user", id="7", label="me", role=Role.REVIEWER)
    disagree(neighbour.workspace)
    since = timezone.now()
    disagree(tenant.workspace)
    with in_workspace(tenant.workspace):
        now = timezone.now()
        record("memory.forgotten", of=("memory", "1"), actor=me, now=now)
        told = changes_since(since, me, now)
        assert [change.words for change in told.told] == ["2 commits", "1 conflict found"]
        listed = parse_qs(urlsplit(told.told[0].url).query)
        assert listed == {"happened": ["memory.committed"], "since": [since.isoformat()]}
        stranger = Actor(kind="user", id="8", label="other", role=Role.REVIEWER)
        assert "1 memory forgotten" in [
            change.words for change in changes_since(since, stranger, now).told
        ]
        assert changes_since(now, me, now).told == ()
        long_ago = changes_since(now - LONGEST - MINUTE, me, now)
        assert (long_ago.is_cut, long_ago.since) == (True, now - LONGEST)
        with CaptureQueriesContext(connection) as asked:
            changes_since(since, me, now)
        assert len(asked) == 1


def test_a_task_that_no_note_fits_puts_no_memory_in_doubt(tenant: Tenant) -> None:
    me = Actor(kind="user", id="7", label="me", role=Role.REVIEWER)
    since = timezone.now()
    with in_workspace(tenant.workspace):
        now = timezone.now()
        for error_type in ("memory_drift", "low_overlap", "contextual_mismatch"):
            data = {"error_type": error_type}
            record(
                "drift.found", of=("prediction_error", error_type), actor=SYSTEM, now=now, data=data
            )
        record("drift.found", of=("prediction_error", "old"), actor=SYSTEM, now=now)
        told = [change.words for change in changes_since(since, me, now).told]
        words = {
            words_for(event.type, event.data) for event in Event.objects.filter(type="drift.found")
        }
    assert told == ["2 memories put in doubt"]
    assert words == {"Memory put in doubt", "Task that no note fits"}


def test_the_page_says_what_changed_after_a_pause(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    first = client.get("/").content.decode()
    assert "This is your first visit." in first
    again = client.get("/").content.decode()
    assert ("first visit" in again, 'id="changes"' in again) == (False, False)  # said once
    Membership.objects.filter(user__username="reader-person").update(
        seen_at=timezone.now() - 2 * PAUSE
    )
    assert "Nobody else has changed anything." in client.get("/").content.decode()
    remember(tenant.workspace, "The kiln fires at 1240 degrees.")
    live = client.get("/console/numbers/").content.decode()
    assert ">1 commit</a>" in live
    assert ">1 commit</a>" in client.get("/").content.decode()


def happen(
    tenant: Tenant, kind: str, count: int, *, minutes_ago: float = 0, of: UUID | None = None
) -> None:
    with in_workspace(tenant.workspace):
        for _ in range(count):
            at = timezone.now() - timedelta(minutes=minutes_ago)
            record(kind, of=("memory", of or uuid4()), actor=SYSTEM, now=at, data={})


def feed_in(html: str) -> list[tuple[str, str]]:
    """Return the words of the feed's lines, each with how many times it happened."""
    lines = html[html.index("data-feed data-seq") :].split("<li ")[1:]
    words = [
        re.search(r"<strong>([^<]+)</strong>(?: <span[^>]*times\">(\d+) times)?", one)
        for one in lines
    ]
    told = [(found[1], found[2] or "1") for found in words if found]
    return [one for one in told if one[0] != "Key issued"]  # the keys of the tenant


def test_events_without_a_text_lead_to_what_they_speak_of(tenant: Tenant, member: Member) -> None:
    memory = uuid4()
    with in_workspace(tenant.workspace):
        run = JanitorRun.objects.create(started_at=NOW)
        review = uuid4()
        for kind, of, data in (
            ("review.opened", ("memory", memory), {"review": str(review), "kind": "forget"}),
            ("janitor.ran", ("janitor_run", run.pk), {}),
            ("session.deleted", ("session", uuid4()), {}),
        ):
            record(kind, of=of, actor=SYSTEM, now=NOW, data=data)
    client = member("reviewer")
    html = client.get("/").content.decode()
    item = f"/console/inbox/?item=reviews%3A{review}"
    assert f'<strong><a href="{item}">Review opened</a></strong>' in html
    page = f"/admin/memories/janitorrun/{run.pk}/change/"
    assert f'<strong><a href="{page}">Janitor ran</a></strong>' in html
    assert client.get(page).status_code == 200
    assert "<strong>Session deleted</strong>" in html


def test_lines_say_what_they_are_about(tenant: Tenant, member: Member) -> None:
    memory = remember(tenant.workspace, "Ferries leave from pier three.").pk
    gone = remember(tenant.workspace, "The kiosk shuts at noon.").pk
    with in_workspace(tenant.workspace):
        session = Session.objects.create(
            session_key="release-42", started_at=NOW, k=5, budget_chars=9
        )
        doubts = [
            PredictionError.objects.create(
                error_type="memory_drift", memory_id=pk, source="notes", detected_at=NOW,
                last_seen_at=NOW,
            )
            for pk in (memory, gone)
        ]  # fmt: skip
        Memory.objects.filter(pk=gone).update(forgotten_at=NOW)
        for kind, of, data in (
            ("review.opened", ("memory", memory), {"review": str(uuid4()), "kind": "forget"}),
            ("review.opened", ("memory", gone), {"review": str(uuid4()), "kind": "forget"}),
            ("drift.found", ("prediction_error", doubts[0].pk), {"error_type": "memory_drift"}),
            ("drift.found", ("prediction_error", doubts[1].pk), {"error_type": "memory_drift"}),
            ("session.ended", ("session", session.pk), {}),
            ("comparison.recorded", ("comparison", uuid4()), {"session": str(session.pk)}),
            ("janitor.ran", ("janitor_run", uuid4()), {"examined": 5, "demoted": 1, "culled": 0}),
            ("training.finished", ("training", uuid4()), {"version": 3, "status": "promoted"}),
            ("settings.changed", ("workspace", tenant.workspace.pk), {"gate_policy": ["a", "b"]}),
            ("key.issued", ("key", uuid4()), {"name": "night shift"}),
        ):
            record(kind, of=of, actor=SYSTEM, now=NOW, data=data)
        lines = {one["seq"]: one["data"] for one in feed.since(0)[0][-10:]}
        joined = feed.latest(40)
    told = [lines[seq].get("text") for seq in sorted(lines)]
    assert told == [
        "Ferries leave from pier three.", None, "Ferries leave from pier three.", None,
        "release-42", "release-42", "5 examined, 1 demoted, 0 hidden",
        f"version 3, {TrainingStatus.PROMOTED.label.lower()}", LABELS["gate_policy"],
        "night shift",
    ]  # fmt: skip
    found = [one["data"].get("url") for one in joined if one["type"] == "drift.found"]
    assert found == [f"/console/inbox/?item=drift%3A{doubts[1].pk}"]  # two lines are one
    assert "text" not in next(one for one in joined if one["type"] == "drift.found")["data"]


def test_a_change_of_many_is_one_line_of_the_feed(tenant: Tenant, member: Member) -> None:
    happen(tenant, "memory.revised", 3, minutes_ago=5)
    happen(tenant, "memory.split", 5, minutes_ago=4)
    happen(tenant, "memory.forgotten", 40)
    html = member("reader").get("/").content.decode()
    assert feed_in(html) == [
        ("Memory forgotten", "40"),
        *[("Merge taken apart", "1")] * 5,
        *[("Memory revised", "1")] * 3,
    ]
    seqs = re.search(r'data-seqs="([\d ]+)" data-joins="Memory forgotten', html)
    assert seqs is not None
    assert len(seqs[1].split()) == 40  # the live stream sends none of them again


def test_changes_of_few_memories_are_a_line_for_each_with_its_text(
    tenant: Tenant, member: Member
) -> None:
    pier = remember(tenant.workspace, "Ferries leave from pier three.").pk
    kiosk = remember(tenant.workspace, "The kiosk shuts at noon.").pk
    for one, times in ((pier, 4), (kiosk, 1), (pier, 1), (kiosk, 2)):
        happen(tenant, "memory.revised", times, of=one)
    html = member("reader").get("/").content.decode()
    assert feed_in(html)[:2] == [("Memory revised", "3"), ("Memory revised", "5")]
    lines = html[html.index("data-feed data-seq") :].split("<li ")[1:3]
    assert "The kiosk shuts at noon." in lines[0]
    assert "Ferries leave from pier three." in lines[1]


def test_a_change_of_many_names_the_newest_and_counts_the_others(
    tenant: Tenant, member: Member
) -> None:
    pier = remember(tenant.workspace, "Ferries leave from pier three.").pk
    happen(tenant, "memory.revised", 4)
    happen(tenant, "memory.revised", 2, of=pier)
    html = member("reader").get("/").content.decode()
    assert feed_in(html)[0] == ("Memory revised", "6")
    line = html[html.index("data-feed data-seq") :].split("<li ")[1]
    assert "Ferries leave from pier three." in line
    assert '<span class="others muted">and 4 other memories</span>' in line


def test_equal_events_without_a_text_are_one_line_from_the_second_on(
    tenant: Tenant, member: Member
) -> None:
    html = member("reader").get("/").content.decode()
    lines = re.findall(r"<strong>Key issued</strong>(?: <span[^>]*times\">(\d+) times)?", html)
    with in_workspace(tenant.workspace):
        assert lines == [str(Event.objects.filter(type="key.issued").count())]
    assert 'data-joined-from="2"' in html


def test_who_did_it_is_named_and_what_was_retired_is_quoted(tenant: Tenant, member: Member) -> None:
    retired, forgotten = (remember(tenant.workspace, text, agent="forge") for text in (OLD, NEW))
    boss = Actor("user", "7", "Mara", Role.ADMIN)
    with in_workspace(tenant.workspace):
        for memory, state in ((retired, "retired"), (forgotten, "forgotten")):
            Memory.objects.filter(pk=memory.pk).update(**{f"{state}_at": NOW})
            record(
                f"memory.{state}", of=("memory", memory.pk), actor=boss, now=timezone.now(), data={}
            )
    client = member("admin")
    html = client.get("/").content.decode()
    lines = html[html.index("data-feed data-seq") :].split("<li ")[1:]
    by = [re.search(r"<strong>([^<]+)<.*muted by\">([^<]*)<", line, re.DOTALL) for line in lines]
    told = [found.groups() for found in by if found]
    assert told[0] == ("Memory forgotten", "Mara")
    assert ("New memory", "forge") in told
    activity = client.get("/admin/kernel/event/").content.decode()
    assert OLD in unescape(activity)
    assert NEW not in unescape(html + activity)


def test_what_happens_apart_or_by_others_is_not_one_line(tenant: Tenant, member: Member) -> None:
    happen(tenant, "memory.revised", 4, minutes_ago=10)
    happen(tenant, "memory.revised", 4, minutes_ago=3)
    html = member("reader").get("/").content.decode()
    assert feed_in(html) == [("Memory revised", "4")] * 2
