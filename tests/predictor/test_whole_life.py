"""Sessions over HTTP are judged, compared and learned from; the next one is ranked by the model."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import SessionCandidate
from predictor.models import Comparison, Judgement, PredictorState, Training
from predictor.services.judging.judge import judge_due
from predictor.services.training.dataset import gather
from predictor.services.training.due import training_lease
from predictor.services.training.turn import stalled, train_turn
from tests.conftest import Tenant

SUBJECTS = {
    "billing": ["invoices", "refunds", "late fees", "tax numbers"],
    "deploys": ["rollbacks", "canary hosts", "release notes", "build caches"],
    "kitchen": ["coffee beans", "the dishwasher", "oat milk", "clean mugs"],
}


# A judge without a model is surer the more is said.
TALK = """User: good morning, the train was late and my umbrella broke on the bridge.
Assistant: sorry to hear that. Shall we begin with what you were asked yesterday?
User: yes please, a colleague from Lisbon wants an answer before lunch, quickly and in writing.
Assistant: then let us look at each question, write short sentences and send them together."""


def make_statement(subject: str, thing: str) -> str:
    return f"For {subject} we keep {thing} in cupboard {len(thing)} next to the {thing} list."


def transcript(subject: str) -> str:
    things = SUBJECTS[subject]
    lines = [
        f"User: where do we keep {thing} for {subject}?\n"
        f"Assistant: {make_statement(subject, thing)} Done."
        for thing in things
    ]
    return "\n".join([TALK, *lines])


def live(tenant: Tenant, key: str, subject: str) -> None:
    """Live through a session, from its start to its end."""
    wanted = {"session_key": key, "context": f"A question about {subject}.", "project": "office"}
    assert tenant.agent.post("sessions", wanted).status_code == 201
    ended = tenant.agent.post(f"sessions/{key}/end", {"transcript": transcript(subject)})
    assert ended.status_code in {200, 202}, ended.json()


def get_json(tenant: Tenant, path: str) -> Any:
    answer = tenant.reviewer.get(path)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def test_sessions_teach_the_ranker_that_ranks_the_next_one(
    tenant: Tenant, neighbour: Tenant
) -> None:
    tenant.workspace.settings = {"score_timeout_ms": 10_000}  # also where the tests must share
    tenant.workspace.save()
    for subject, things in SUBJECTS.items():
        for thing in things:
            body = {"content": make_statement(subject, thing)}
            assert tenant.agent.post("memories", body).status_code == 201
    subjects = list(SUBJECTS)
    for n in range(12):
        live(tenant, f"s{n}", subjects[n % 3])
    workspace = tenant.workspace
    assert len(judge_due(workspace, clock=timezone.now)) == 12
    with in_workspace(workspace):
        usable = Judgement.objects.filter(void_reason="", is_flat=False).count()
        assert Judgement.objects.count() == 12
        assert usable >= 10
        found = gather(workspace)
        assert len(found.sessions) == usable
        # Every account of a candidate that was written at the start can be read back.
        assert (
            SessionCandidate.objects.filter(signals=[], baseline_score__isnull=False).count() == 0
        )
        assert training_lease().reason == "first"
    assert stalled(timezone.now()) == [workspace.pk]
    training = train_turn(workspace.pk, clock=timezone.now, rng=np.random.default_rng(4))
    assert training is not None
    assert (training.status, training.version, training.error) == ("promoted", 1, "")

    live(tenant, "next", "billing")
    assert len(judge_due(workspace, clock=timezone.now)) == 1
    audit = get_json(tenant, "predictor/audit/next")
    with in_workspace(workspace):
        comparison = Comparison.objects.get(session__session_key="next")
        rows = SessionCandidate.objects.filter(session__session_key="next")
        assert {row.predictor_rank for row in rows} == set(range(1, 13))
        assert comparison.model_version == 1
        assert comparison.is_out_of_sample
        assert comparison.void_reason == ""
        assert Training.objects.count() == 1
    assert audit["session"]["session_key"] == "next"
    assert get_json(tenant, "predictor/status")["model"]["version"] == 1
    with in_workspace(neighbour.workspace):
        assert not PredictorState.objects.exists()
