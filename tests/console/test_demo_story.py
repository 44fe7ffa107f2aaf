"""The demo's story as it is played through the services, to be recorded and evaluated."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Sum

from conflicts.models import Conflict, DetectionRun
from conflicts.services.detection.detect import detect_due
from engram.console.demo.sessions import (
    BETWEEN_PROMPTS,
    JUDGED_AFTER,
    SESSIONS,
    SessionStep,
)
from engram.console.demo.story import (
    STEP,
    CommitStep,
    embed_story,
    play,
    read_all_steps,
    read_story,
)
from engram.kernel.models import Job
from engram.kernel.tenancy import in_workspace
from memories.models import ExtractionRefusal, JanitorRun, Memory, ReportItem, Revision, Session
from predictor.models import CalibrationItem, Comparison, Judgement
from tests.conftest import NOW, Tenant

DOG = "Biscuit is the dog of the office."
PROMPTS = ["Is Biscuit the dog of the office?", "Where does Biscuit sleep at noon?"]
TALK = (
    "User: Who is the dog of the office?\nAgent: Biscuit is the dog of the office, and sleeps "
    "under the desk at noon.\nUser: Thank you, that is what I wanted to know about the dog.\n"
) * 5
DISPUTED = [("rabbit", "kafka", "rabbit-again"), ("hours-old", "hours-now")]
BEGAN = NOW - timedelta(days=4)
ENDED = BEGAN + 3 * BETWEEN_PROMPTS


def commit(days_ago: float, content: str, **more: Any) -> dict[str, Any]:
    return {"do": "commit", "days_ago": days_ago, "content": content, **more}


def play_steps(tenant: Tenant, *steps: dict[str, Any]) -> None:
    read = [STEP.validate_python(step) for step in steps]
    play(tenant.workspace, read, embed_story(tenant.workspace, read), now=NOW)


def test_steps_happen_at_their_own_time(tenant: Tenant) -> None:
    play_steps(
        tenant,
        commit(9, "The gate opens at six.", label="gate", expires_in_days=4),
        commit(9, "The kiosk sells tickets.", label="kiosk"),
        {"do": "revise", "days_ago": 5, "of": "kiosk", "by": "ines", "changes": {"scope": "port"}},
        {"do": "forget", "days_ago": 1, "of": ["kiosk"], "by": "ines"},
    )
    with in_workspace(tenant.workspace):
        gate, kiosk = Memory.objects.order_by("observed_at")
        assert gate.observed_at == NOW - timedelta(days=9)
        assert gate.expires_at == NOW - timedelta(days=5)
        assert kiosk.observed_at == NOW - timedelta(days=9) + timedelta(minutes=7)
        assert kiosk.forgotten_at == NOW - timedelta(days=1)
        revision = Revision.objects.get(memory=kiosk)
        assert (revision.created_at, revision.actor_label) == (NOW - timedelta(days=5), "ines")


def test_session_of_the_story_leaves_what_a_session_leaves(tenant: Tenant) -> None:
    tenant.workspace.settings = {"predictor_mode": "on"}
    tenant.workspace.save()
    play_steps(
        tenant,
        commit(9, DOG, label="dog"),
        commit(9, "Biscuit sleeps under the desk at noon."),
        commit(9, "Invoices are sent on the first of a month."),
        {
            "do": "session", "days_ago": 4, "key": "dogs", "agent": "forge",
            "context": "Who is the dog of the office?", "prompts": PROMPTS,
            "feedback": {"dog": 1.0}, "transcript": TALK,
        },
    )  # fmt: skip
    with in_workspace(tenant.workspace):
        session, judged = Session.objects.get(), Judgement.objects.get()
        times = (session.started_at, session.ended_at, session.judged_at)
        assert times == (BEGAN, ENDED, ENDED + JUDGED_AFTER)
        assert (judged.status, judged.judged_at) == ("done", ENDED + JUDGED_AFTER)
        feedback = list(session.candidates.values_list("feedback", flat=True))
        assert (session.prompt_count, feedback.count(1.0)) == (2, 1)
        assert Comparison.objects.count() == 1
        assert Memory.objects.aggregate(all=Sum("hit_count"))["all"] > 0


def test_answers_of_the_story_are_questions_with_a_change_and_a_dispute(tenant: Tenant) -> None:
    steps = [step for step in read_story() if isinstance(step, CommitStep) and step.answers]
    labels = play(tenant.workspace, steps, embed_story(tenant.workspace, steps), now=NOW)
    detect_due(tenant.workspace, clock=lambda: NOW)
    found = {row["question"]: row for row in tenant.reader.get("questions").json()["results"]}
    assert len(found) == 10
    website = found["Where are the sessions of the website kept?"]
    assert (website["answer"], website["disputed"]) == ("Redis", False)
    history = tenant.reader.get(f"questions/{website['id']}").json()["history"]
    assert [(one["answer"], one["was"], one["state"]) for one in history] == [
        ("Redis", "Memcached", "holds"), ("Memcached", None, "superseded"),
    ]  # fmt: skip
    disputed = {question for question, row in found.items() if row["disputed"]}
    assert disputed == {
        "Which broker carries Harbour's booking events?",
        "When is the support hotline open?",
    }
    cards = [{str(labels[name]) for name in card} for card in DISPUTED]
    assert [cards.index(members) for members in members_of_cards(tenant)] in ([0, 1], [1, 0])


def test_people_and_the_janitor_act_in_the_story(tenant: Tenant) -> None:
    tenant.workspace.settings = {"detection_enabled": False}  # as in a recording
    tenant.workspace.save()
    play_steps(
        tenant,
        commit(9, "The boathouse closes at 18:00.", label="early"),
        commit(9, "A deck chair costs 3 euros.", label="cheap"),
        commit(8, "The boathouse closes at 19:00.", label="late"),
        commit(8, "A deck chair costs 4 euros.", label="dear"),
        {"do": "detect", "days_ago": 7, "of": ["late", "dear"]},
        {
            "do": "decide", "days_ago": 6, "of": ["early", "late"], "by": "ines",
            "verdict": "no", "note": "Only on Sundays.",
        },
        {"do": "snooze", "days_ago": 5, "of": ["cheap", "dear"], "by": "ines", "for_days": 9},
        {"do": "janitor", "days_ago": 2},
        {
            "do": "session", "days_ago": 1, "key": "rota", "agent": "forge",
            "context": "Plan the rota.", "missing": ["Who has the keys: asked Ines, she has."],
        },
    )  # fmt: skip
    with in_workspace(tenant.workspace):
        decided = Conflict.objects.get(status="resolved").decisions.get()
        assert (decided.verdict, decided.decided_by, decided.note) == (
            "no", "ines", "Only on Sundays.",
        )  # fmt: skip
        assert decided.decided_at == NOW - timedelta(days=6)
        late = Memory.objects.get(content__contains="19:00")
        assert (late.state(NOW), late.retired_at) == ("retired", NOW - timedelta(days=6))
        assert Conflict.objects.get(status="snoozed").snoozed_until == NOW + timedelta(days=4)
        lag = DetectionRun.objects.get().lag_seconds  # due since the first of the two commits
        assert lag == pytest.approx(24 * 3600)
        assert JanitorRun.objects.get().started_at == NOW - timedelta(days=2)
        said = ReportItem.objects.get()
        assert (said.kind, said.text) == ("missing", "Who has the keys: asked Ines, she has.")


def test_people_rate_what_a_sample_asks_about_and_a_session_is_extracted(tenant: Tenant) -> None:
    talk = f"{TALK}User: The night boat to Westhaven usually waits for the last train.\n"
    rated = {"do": "rate", "session": "dogs", "by": "ines"}
    play_steps(
        tenant,
        commit(9, DOG, label="dog"),
        commit(9, "Biscuit sleeps under the desk at noon.", label="desk"),
        commit(9, "Invoices are sent on the first of a month.", label="invoices"),
        {
            "do": "session", "days_ago": 4, "key": "dogs", "agent": "forge",
            "context": "Who is the dog of the office?", "prompts": PROMPTS,
            "transcript": talk, "is_extracted": True,
        },
        {"do": "sample", "days_ago": 3, "by": "aylin", "size": 2},
        {**rated, "days_ago": 2, "ratings": {"dog": 1.0, "desk": 0.5, "invoices": None}},
        {**rated, "days_ago": 1, "ratings": {"dog": 0.75, "desk": 0.75, "invoices": 0.0}},
    )  # fmt: skip
    with in_workspace(tenant.workspace):
        items = list(CalibrationItem.objects.all())
        assert len(items) == 2  # the third was not asked about
        assert {item.labelled_by for item in items} == {"ines"}
        assert {item.labelled_at for item in items} == {NOW - timedelta(days=1)}
        assert all(item.is_relabelled for item in items)
        job = Job.objects.get()
        assert (job.status, job.finished_at) == ("done", ENDED)
        assert ExtractionRefusal.objects.exists() or job.result["kept"]


def members_of_cards(tenant: Tenant) -> list[set[str]]:
    with in_workspace(tenant.workspace):
        return [
            {str(member.memory_id) for member in card.members.all()}
            for card in Conflict.objects.filter(status="open")
        ]


def test_transcripts_of_the_story_can_be_judged_and_keys_stand_once() -> None:
    steps = [step for step in read_all_steps() if isinstance(step, SessionStep)]
    assert steps == read_story(SESSIONS)
    assert min(len(step.transcript) for step in steps if not step.missing) >= 500
    assert len({step.key for step in steps}) == len(steps)
    assert not any(isinstance(step, SessionStep) for step in read_story())


def test_shipped_story_is_in_time_order_and_names_nobody_twice() -> None:
    steps = read_story()
    labels = [step.label for step in steps if isinstance(step, CommitStep)]
    ages = [step.days_ago for step in steps]
    assert ages == sorted(ages, reverse=True)
    assert "" not in labels
    assert len(labels) == len(set(labels))
    assert len(steps) > 300
