"""The demo's story, loaded from its recording: what it shows, and that life goes on from it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Avg
from django.test import Client
from django.utils import timezone

from conflicts.models import Conflict, DetectionDue, DetectionRun, Muting
from conflicts.services import due as detection_due
from conflicts.services.detection.detect import detect_due
from engram.console.demo.loading import load
from engram.console.demo.sessions import SESSIONS
from engram.console.demo.story import ReviseStep, read_story
from engram.console.learning.overview import learning
from engram.console.overview import overview
from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event, Job, LatencyHour, Role, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import (
    Derivation,
    ExtractedQuote,
    ExtractionRefusal,
    JanitorRun,
    Memory,
    MemoryTokens,
    MemoryVector,
    NoteLink,
    Observation,
    PastRecall,
    PredictionError,
    RecallDay,
    RecallRecord,
    ReportItem,
    Review,
    Revision,
    Session,
    State,
)
from memories.services.index import reembed
from memories.services.recall.past_recalls import asked_in
from memories.services.sessions.ranker_hook import STAGE
from predictor.models import CalibrationItem, Comparison, Judgement, Training
from predictor.services.calibration.report import calibration_of
from predictor.services.judging import due as judging_due
from predictor.services.judging.judge import judge_due
from predictor.services.training import turn
from tests.conftest import NOW, Caller, Tenant


def empty_workspace(slug: str = "demo") -> Workspace:
    patient = {"predictor_mode": "on", "score_timeout_ms": 10_000}
    return Workspace.objects.create(slug=slug, name=slug, settings=patient)


@pytest.fixture
def demo(db: None) -> Workspace:
    """Return a workspace with the story, which ended at NOW."""
    workspace = empty_workspace()
    assert load(workspace, NOW)
    return workspace


def caller(workspace: Workspace, role: Role) -> Caller:
    _, token = keys.issue(workspace, name=role, role=role, actor=SYSTEM, now=NOW)
    return Caller(token, Client())


def test_story_shows_every_state_and_outcome(demo: Workspace, neighbour: Tenant) -> None:
    with in_workspace(demo):
        states = Counter(memory.state(NOW) for memory in Memory.objects.all())
        outcomes = set(Observation.objects.values_list("outcome", flat=True))
        types = set(Event.objects.values_list("type", flat=True))
        oldest = Memory.objects.order_by("created_at")[0]
        assert set(states) == set(State) - {State.CULLED}
        assert states[State.ACTIVE] > 200
        assert outcomes >= {"created", "merged", "suggested", "kept_apart"}
        assert types >= {"memory.suppressed", "memory.restored", "memory.revised"}
        assert Revision.objects.filter(reason="revise").count() == sum(
            isinstance(step, ReviseStep) for step in read_story()
        )
        assert Derivation.objects.count() > 20
        assert Memory.objects.filter(is_pinned=True, kind="constraint").count() >= 4
        assert sum(RecallDay.objects.values_list("recalls", flat=True)) >= 25
        who = {one.who for one in asked_in(PastRecall.objects.all()).values()}
        assert who >= {"atlas", "forge", "scout"}
        assert "" not in who
        assert set(Review.objects.values_list("kind", flat=True)) == {
            "supersede",
            "source_forgotten",
        }
        assert oldest.created_at < NOW - timedelta(days=260)
    with in_workspace(neighbour.workspace):
        assert (Memory.objects.count(), Session.objects.count()) == (0, 0)


def test_ranker_of_the_story_is_a_little_better_and_not_adopted(demo: Workspace) -> None:
    with in_workspace(demo):
        sessions = len(read_story(SESSIONS))
        assert Session.objects.exclude(ended_at=None).count() == sessions > 80
        outcomes = Counter(Comparison.objects.values_list("outcome", flat=True))
        assert outcomes["win"] > outcomes["loss"] > outcomes["tie"]
        assert Training.objects.filter(status="promoted").count() > 10
        assert Training.objects.filter(status="rejected").exists()  # which the learning page shows
        assert not Comparison.objects.filter(is_drift_reset=True).exists()
        assert not Comparison.objects.filter(alpha__lt=1).exists()
        compared = Comparison.objects.exclude(margin=None)
        means = compared.aggregate(own=Avg("predictor_ndcg"), baseline=Avg("baseline_ndcg"))
        assert len(compared) > 70
        assert 0.68 < means["baseline"] < means["own"] < 0.77  # as docs/predictor.md says
        drafted = [one.drafted_margin for one in compared if one.drafted_margin is not None]
        assert 0.01 < sum(drafted) / len(drafted) < 0.05
        assert CalibrationItem.objects.filter(labelled_at=None).count() >= 20
        judged = Judgement.objects.earliest("judged_at")
        assert judged.judged_at is not None
        assert judged.judged_at < NOW - timedelta(days=100)
        done = Judgement.objects.exclude(status="skipped")  # nothing was said or used in those
        assert set(done.values_list("kind", flat=True)) == {"agent", "offline"}


def test_detective_has_read_everything_and_finds_nothing_new(demo: Workspace) -> None:
    with in_workspace(demo):
        run = DetectionRun.objects.latest("created_at")
        assert run.trigger_count == Memory.objects.recallable(NOW).count()
        assert (run.created_at, run.status) == (NOW, "done")
        assert run.lag_seconds == 0  # the story is not said to be months late
        waiting = Conflict.objects.filter(status="open")
        at_the_end = waiting.filter(created_at=NOW).count()
        assert run.opened == at_the_end > 0
        assert waiting.count() == at_the_end + 2  # found when the story told them
        assert DetectionDue.objects.count() == 0
    later = NOW + timedelta(minutes=5)
    assert detection_due.queue_memories(demo, None, now=later) == run.trigger_count
    (again,) = detect_due(demo, clock=lambda: later)
    assert (again.status, again.opened, again.joined) == ("done", 0, 0)
    with in_workspace(demo):
        assert Conflict.objects.filter(status="open").count() == run.opened + 2


def test_people_have_answered_and_put_off_conflicts_of_the_story(demo: Workspace) -> None:
    with in_workspace(demo):
        kinds = set(Conflict.objects.filter(status="open").values_list("kind", flat=True))
        answered = Conflict.objects.exclude(status="open")
        verdicts = Counter(answered.values_list("decisions__verdict", flat=True))
        snoozed = Conflict.objects.get(status="snoozed")
        assert kinds == {"ambiguity", "reversal", "stale"}
        assert verdicts.keys() == {None, "both_valid", "dismiss", "no", "yes"}
        assert verdicts[None] == 1  # of the snoozed one
        assert snoozed.snoozed_until is not None
        assert snoozed.snoozed_until > NOW
        retired = [row for row in Memory.objects.all() if row.state(NOW) == State.RETIRED]
        assert len(retired) == verdicts["no"] > 2
        assert "The ticket kiosk at Quay 3 closes at 22:00." in {row.content for row in retired}
        assert not Muting.objects.exists()
    quality = caller(demo, Role.READER).get("conflicts/quality").json()
    assert quality["decided"] >= 30
    assert 0.8 < quality["confirmed"]["share"] < 0.9


def test_people_have_rated_what_the_judge_said_and_more_waits(demo: Workspace) -> None:
    with in_workspace(demo):
        found = calibration_of(now=NOW)
        raters = set(CalibrationItem.objects.exclude(labelled_at=None).values_list("labelled_by"))
        assert found.report.n >= 30
        assert 0.6 < found.report.agreement < 1
        assert found.report.agreement_interval.low < found.report.agreement
        assert sum(len(judge.months) > 2 for judge in found.judges) >= 1
        assert (found.unsure, found.relabelled) == (1, 1)
        assert found.waiting >= 20
        assert raters <= {("ines",), ("aylin",), ("mira",)}


def test_statements_of_a_session_were_kept_and_refused(demo: Workspace) -> None:
    with in_workspace(demo):
        refused = ExtractionRefusal.objects.filter(session_key="island-1")
        kept = Memory.objects.filter(tags__tag="extracted")
        assert refused.filter(is_borderline=True, decision="undecided").count() == 3
        assert len(set(refused.values_list("reason", flat=True))) >= 3
        assert {quote.memory_id for quote in ExtractedQuote.objects.all()} == {
            memory.pk for memory in kept
        }
        assert Job.objects.get().status == "done"


def test_the_detective_has_read_within_seconds_in_most_hours_of_the_last_day(
    demo: Workspace,
) -> None:
    with in_workspace(demo):
        shown = overview(demo, NOW).detection
        known = [lag for lag in shown.lag.values if lag is not None]
        assert len(known) > 16
        assert 0 < max(known) < 60
        assert 0 < (shown.lag_median or 0) < 20


def test_agents_have_held_sessions_and_recalled_within_the_last_day(demo: Workspace) -> None:
    day = NOW - timedelta(days=1)
    with in_workspace(demo):
        assert Session.objects.filter(started_at__gte=day).count() >= 4
        assert Comparison.objects.filter(created_at__gte=day).count() >= 4
        shown = overview(demo, NOW).recalls
        speed = learning(demo, NOW).speed
        stages = set(LatencyHour.objects.values_list("stage", flat=True))
    assert shown.today >= 4
    assert shown.today == shown.sparkline.values[-1]
    known = [ms for ms in speed.sparkline.values if ms is not None]
    assert len(known) >= 4
    assert 0 < max(known) < speed.timeout_ms
    assert (speed.timeouts, speed.tone) == (0, "")
    assert stages == {STAGE}


def test_the_janitor_has_run_and_agents_said_what_was_missing(demo: Workspace) -> None:
    with in_workspace(demo):
        run = JanitorRun.objects.get()
        assert (run.started_at < NOW, run.examined > 0) == (True, True)
        said = set(ReportItem.objects.values_list("kind", flat=True))
        assert said == {"missing"}
        assert ReportItem.objects.count() >= 3


def test_nothing_of_the_story_waits_for_a_worker(demo: Workspace) -> None:
    later = NOW + timedelta(minutes=1)
    assert judging_due.stalled(later) == []
    assert turn.stalled(later) == []
    with in_workspace(demo):
        assert not RecallRecord.objects.exists()
        assert not Memory.objects.filter(is_embedding_due=True).exists()
        model = demo.embedding_model
        assert reembed.without_vectors(model).count() == 0
        read = MemoryTokens.objects.filter(model=model).values("memory")
        assert not Memory.objects.exclude(pk__in=read).exists()


def test_the_home_page_counts_what_the_story_left(demo: Workspace) -> None:
    with in_workspace(demo):
        shown = overview(demo, NOW)
        assert shown.memories == Memory.objects.recallable(NOW).count()
        assert shown.open_conflicts == Conflict.objects.filter(status="open").count()
        assert (shown.detection.depth, shown.is_empty) == (0, False)
        assert (
            shown.commits_today == Observation.objects.filter(created_at__date=NOW.date()).count()
        )


def test_agents_go_on_from_the_story(demo: Workspace) -> None:
    agent, reader = caller(demo, Role.AGENT), caller(demo, Role.READER)
    (first, *_) = agent.post(
        "memories/recall", {"query": "How are webhooks of the booking API signed?", "k": 3}
    ).json()["results"]
    assert "webhook" in first["memory"]["content"].lower()
    with in_workspace(demo):
        scored, version = Comparison.objects.count(), demo_state(demo)["model_version"]
    started = agent.post(
        "sessions", {"session_key": "live", "context": "How are webhooks signed?", "k": 5}
    )
    assert started.status_code == 201
    agent.post("sessions/live/prompts", {"prompt": "How are webhooks of the booking API signed?"})
    talk = "User: How are webhooks signed?\nAgent: As noted: " + first["memory"]["content"]
    assert agent.post("sessions/live/end", {"transcript": f"{talk}\n" * 8}).status_code == 202
    with in_workspace(demo):
        ended_at = Session.objects.get(session_key="live").ended_at
    assert ended_at is not None
    assert len(judge_due(demo, clock=lambda: ended_at + timedelta(minutes=1))) == 1
    with in_workspace(demo):
        compared = Comparison.objects.get(session__session_key="live")
        assert (Comparison.objects.count(), compared.model_version) == (scored + 1, version)
    assert reader.get("predictor/audit/live").json()["judgement"]["reasoning"] != ""


def test_questions_are_answered_at_first_sight_and_stay_one(demo: Workspace) -> None:
    agent, reader = caller(demo, Role.AGENT), caller(demo, Role.READER)

    def questions() -> dict[str, Any]:
        listed = reader.get("questions").json()["results"]
        return {row["question"]: row for row in listed}

    before, asked = questions(), "How long are backups of db-main kept?"
    assert len(before) >= 12
    assert before[asked]["answer"] == "35 days"
    assert sum(row["disputed"] for row in before.values()) == 2
    told = {"content": "On db-main a backup is deleted after 35 days.", "scope": "infra/database"}
    answers = [{"question": asked, "answer": "35 days"}]
    assert agent.post("memories", told | {"answers": answers}).status_code == 201
    detect_due(demo, clock=timezone.now)
    after = questions()
    assert after.keys() == before.keys()
    assert after[asked]["id"] == before[asked]["id"]


def test_notes_have_left_memories_behind(demo: Workspace) -> None:
    """Two notes changed what memories lean on, a third says more than one; one only points.

    Two sessions quoted notes that said something else than a memory.
    """
    with in_workspace(demo):
        errors = PredictionError.objects.filter(resolved_at=None)
        found = set(errors.values_list("error_type", "note__path", "memory__scope"))
        linking = Memory.objects.filter(note_links__isnull=False).distinct().count()
        ambiguous = NoteLink.objects.filter(reason="ambiguous").count()
    assert found == {
        ("memory_drift", "projects/quay-displays.md", "quays"),
        ("memory_drift", "handbook/lost-property.md", "support/lost-property"),
        ("memory_drift", "handbook/service-desk.md", "support/desk"),
        ("memory_external_signal", None, "infra/deploy"),
        ("memory_external_signal", None, "billing/payouts"),
    }
    assert (linking, ambiguous) == (5, 1)


def demo_state(demo: Workspace) -> dict[str, Any]:
    found = caller(demo, Role.READER).get("predictor/status").json()
    return {"model_version": found["model"]["version"] if found.get("model") else None}


def test_another_embedding_model_reads_the_story_anew(db: None, settings: Any) -> None:
    other = {"provider": "openai", "model": "other", "base_url": "http://127.0.0.1:9/v1"}
    workspace = empty_workspace()
    settings.ENGRAM_EMBEDDING = other
    assert load(workspace, NOW)
    assert (workspace.embedding_model, workspace.embedding_changed_at) == ("other", NOW)
    with in_workspace(workspace):
        assert not MemoryVector.objects.exists()
        assert not MemoryTokens.objects.exists()
        waiting = Memory.objects.filter(is_embedding_due=True).count()
        assert waiting == Memory.objects.count() > 200
