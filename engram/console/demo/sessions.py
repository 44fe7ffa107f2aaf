"""The sessions of the demo's team: each with its prompts, its transcript and what came of it.

A session of the story is judged and learned from when it ended, by the services that do so in the
worker; the judge is the one that needs no model, so that a story costs nobody money.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np

from engram.console.demo.steps import Labels, Step
from engram.kernel.actors import Actor
from engram.kernel.models import Role, Workspace
from memories.services.session_end import end_session
from memories.services.session_feedback import give_feedback
from memories.services.session_prompt import prompt
from memories.services.session_start import SessionWanted, start_session
from predictor.services.judge import judge_due
from predictor.services.train import train_due

SESSIONS = Path(__file__).with_name("sessions.jsonl")
BETWEEN_PROMPTS = timedelta(minutes=3)
JUDGED_AFTER = timedelta(minutes=1)


class SessionStep(Step):
    """An agent works for somebody, from the first word to the last."""

    do: Literal["session"]
    key: str
    agent: str
    project: str = ""
    context: str
    prompts: tuple[str, ...] = ()
    feedback: dict[str, float] = {}
    transcript: str


def hold(workspace: Workspace, step: SessionStep, labels: Labels, at: datetime) -> None:
    """Hold a session, have it judged, and train the ranker where that became due."""
    agent = Actor(kind="system", id=step.agent, label=step.agent, role=Role.AGENT)
    wanted = SessionWanted(step.key, project=step.project, agent=step.agent, context=step.context)
    started = start_session(workspace, wanted, actor=agent, now=at, rng=Random(step.key))
    for text in step.prompts:
        at += BETWEEN_PROMPTS
        prompt(workspace, step.key, text, actor=agent, now=at)
    considered = set(started.session.candidates.values_list("memory", flat=True))
    for label, value in step.feedback.items():
        if labels[label] in considered:
            give_feedback(workspace, step.key, labels[label], value, now=at)
    at += BETWEEN_PROMPTS
    end_session(workspace, step.key, step.transcript, actor=agent, now=at)
    at += JUDGED_AFTER
    judge_due(workspace, clock=lambda: at, may_ask=False)
    train_due(workspace, clock=lambda: at, rng=np.random.default_rng(list(step.key.encode())))
