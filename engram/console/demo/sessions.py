"""The sessions of the demo's team: each with its prompts, its transcript and what came of it.

A session of the story is judged and learned from when it ended, by the services that do so in the
worker.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np

from engram.console.demo.steps import DemoStep, Labels
from engram.kernel import latency
from engram.kernel.actors import Actor
from engram.kernel.models import Role, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Session
from memories.services.extraction.queue import queue_of_session
from memories.services.extraction.run import extract_turn
from memories.services.sessions.end import end_session
from memories.services.sessions.feedback import give_feedback
from memories.services.sessions.prompts import prompt
from memories.services.sessions.report import Report
from memories.services.sessions.start import SessionRequest, start_session
from predictor.services.judging.judge import judge_due
from predictor.services.training.train import train_due

SESSIONS = Path(__file__).with_name("sessions.jsonl")
BETWEEN_PROMPTS = timedelta(minutes=3)
JUDGED_AFTER = timedelta(minutes=1)
SEED = 3  # chosen so that gates refuse a training, which pages show: with 2 and 4 all pass


class SessionStep(DemoStep):
    """A session of an agent, from its start to its end."""

    do: Literal["session"]
    key: str
    agent: str
    project: str = ""
    context: str
    prompts: tuple[str, ...] = ()
    feedback: dict[str, float] = {}
    transcript: str = ""
    missing: tuple[str, ...] = ()  # what the agent had to find out, as it says at the end
    is_extracted: bool = False  # into memories, and statements that were refused


def hold_session(workspace: Workspace, step: SessionStep, labels: Labels, at: datetime) -> None:
    """Hold a session, have it judged, and train the ranker where that became due."""
    agent = Actor(kind="system", id=step.agent, label=step.agent, role=Role.AGENT)
    wanted = SessionRequest(step.key, project=step.project, agent=step.agent, context=step.context)
    with latency.counted_at(at):
        started = start_session(workspace, wanted, actor=agent, now=at, rng=Random(step.key))
    session = started.session
    _send_prompts(workspace, step, session, labels, agent)
    ended_at = at + (len(step.prompts) + 1) * BETWEEN_PROMPTS
    end_session(
        workspace, step.key, step.transcript, actor=agent, now=ended_at,
        report=Report(missing=step.missing),
    )  # fmt: skip
    if step.is_extracted:
        queue_of_session(workspace, step.key, actor=agent, now=ended_at)
        extract_turn(workspace.pk, clock=lambda: ended_at, seconds=math.inf, may_ask=False)
    judged_at = ended_at + JUDGED_AFTER
    judge_due(workspace, clock=lambda: judged_at)
    rng = np.random.default_rng([SEED, *step.key.encode()])
    train_due(workspace, clock=lambda: judged_at, rng=rng)


def _send_prompts(
    workspace: Workspace, step: SessionStep, session: Session, labels: Labels, agent: Actor
) -> None:
    """Send the prompts of an open session, and the feedback on memories that it considered."""
    at = session.started_at
    for text in step.prompts:
        at += BETWEEN_PROMPTS
        prompt(workspace, step.key, text, actor=agent, now=at)
    with in_workspace(workspace):
        considered = set(session.candidates.values_list("memory", flat=True))
    for label, value in step.feedback.items():
        if labels[label] in considered:
            give_feedback(workspace, step.key, labels[label], value, actor=agent, now=at)
