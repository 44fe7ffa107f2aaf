"""The demo's story, told through the real services."""

import json
from collections import Counter
from datetime import timedelta

import pytest

from conflicts.models import DetectionDue
from engram.console.demo.sessions import SessionStep
from engram.console.demo.story import STORY, CommitStep, ReviseStep, read_demo, read_story
from engram.console.demo.telling import begin, go_on
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import (
    Derivation,
    Memory,
    Observation,
    RecallRecord,
    Review,
    Revision,
    Session,
    State,
)
from predictor.models import CalibrationItem, Comparison, Judgement, Training
from tests.conftest import NOW


@pytest.fixture
def short(tmp_path):
    """Return a function that writes a story of a few steps."""

    def write(*steps):
        path = tmp_path / "story.jsonl"
        path.write_text("".join(json.dumps(step) + "\n" for step in steps))
        return path

    return write


def tell(workspace, path=STORY):
    """Have a story told to its end."""
    begin(workspace, NOW, path=path)
    go_on(workspace, clock=lambda: NOW, path=path)


def commit(days_ago, content, **more):
    return {"do": "commit", "days_ago": days_ago, "content": content, **more}


def look_at_sessions(tenant):
    """The ranker of the story earns influence, loses it and earns it again, as people can see."""
    with in_workspace(tenant.workspace):
        sessions = sum(isinstance(step, SessionStep) for step in read_demo())
        assert Session.objects.exclude(ended_at=None).count() == sessions > 80
        assert set(Comparison.objects.values_list("outcome", flat=True)) >= {"win", "loss", "void"}
        assert set(Training.objects.values_list("status", flat=True)) >= {"promoted", "rejected"}
        assert Comparison.objects.filter(is_drift_reset=True).exists()
        assert Comparison.objects.filter(phase="ramp", alpha__lt=1).exists()
        assert CalibrationItem.objects.filter(labelled_at=None).count() >= 20
        judged = Judgement.objects.earliest("judged_at")
        assert judged.judged_at < NOW - timedelta(days=100)  # at its own time, not at the teller's
        assert set(Judgement.objects.values_list("kind", flat=True)) == {"offline"}


def test_story_shows_every_state_and_outcome(tenant, neighbour, caplog):
    tenant.workspace.settings = {"predictor_mode": "on"}
    tenant.workspace.save()
    tell(tenant.workspace)
    assert not [line for line in caplog.messages if "leaves step" in line]
    look_at_sessions(tenant)

    with in_workspace(tenant.workspace):
        states = Counter(memory.state(NOW) for memory in Memory.objects.all())
        outcomes = set(Observation.objects.values_list("outcome", flat=True))
        told = set(Event.objects.values_list("type", flat=True))
        oldest = Memory.objects.order_by("created_at")[0]
        assert set(states) >= {State.ACTIVE, State.FORGOTTEN, State.SUPERSEDED, State.EXPIRED}
        assert states[State.ACTIVE] > 200
        assert outcomes >= {"created", "merged", "suggested", "kept_apart"}
        assert told >= {"memory.suppressed", "memory.restored", "memory.revised"}
        assert Revision.objects.filter(reason="revise").count() == sum(
            isinstance(step, ReviseStep) for step in read_story()
        )
        assert Derivation.objects.count() > 20
        assert Memory.objects.filter(is_pinned=True, kind="constraint").count() >= 4
        assert RecallRecord.objects.count() >= 25
        assert set(Review.objects.values_list("kind", flat=True)) == {
            "supersede",
            "source_forgotten",
        }
        assert oldest.created_at < NOW - timedelta(days=260)
        # The detective reads it all at once, and is not said to be months late.
        assert DetectionDue.objects.count() == Memory.objects.recallable(NOW).count()
        assert DetectionDue.objects.order_by("since")[0].since > NOW - timedelta(hours=1)
    with in_workspace(neighbour.workspace):
        assert (Memory.objects.count(), Session.objects.count()) == (0, 0)


def test_transcripts_of_the_story_can_be_judged_and_keys_are_said_once():
    steps = [step for step in read_demo() if isinstance(step, SessionStep)]
    assert min(len(step.transcript) for step in steps) >= 500
    assert len({step.key for step in steps}) == len(steps)
    assert not any(isinstance(step, SessionStep) for step in read_story())


def test_steps_happen_at_their_own_time(tenant, short):
    path = short(
        commit(9, "The gate opens at six.", label="gate", expires_in_days=4),
        commit(9, "The kiosk sells tickets.", label="kiosk"),
        {"do": "revise", "days_ago": 5, "of": "kiosk", "by": "ines", "changes": {"scope": "port"}},
        {"do": "forget", "days_ago": 1, "of": ["kiosk"], "by": "ines"},
    )
    tell(tenant.workspace, path)

    with in_workspace(tenant.workspace):
        gate, kiosk = Memory.objects.order_by("observed_at")
        assert gate.observed_at == NOW - timedelta(days=9)
        assert gate.expires_at == NOW - timedelta(days=5)
        assert kiosk.observed_at == NOW - timedelta(days=9) + timedelta(minutes=7)
        assert kiosk.forgotten_at == NOW - timedelta(days=1)
        revision = Revision.objects.get(memory=kiosk)
        assert (revision.created_at, revision.actor_label) == (NOW - timedelta(days=5), "ines")


def test_shipped_story_is_in_time_order_and_names_nobody_twice():
    steps = read_story()
    labels = [step.label for step in steps if isinstance(step, CommitStep)]
    ages = [step.days_ago for step in steps]
    assert ages == sorted(ages, reverse=True)
    assert "" not in labels
    assert len(labels) == len(set(labels))
    assert len(steps) > 300
