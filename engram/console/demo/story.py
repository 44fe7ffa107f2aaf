"""The demo's story: steps in time order, each through the service that a caller would reach.

A step may carry a label, by which later steps (and the probes) name the memory that it became. Each
step happens at its own time, so that history, revisions and counters spread over the months.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from engram.console.demo.notes import NOTES, NoteStep, write_note
from engram.console.demo.ratings import RATINGS, RateStep, RatingStep, SampleStep, rate
from engram.console.demo.sessions import SESSIONS, SessionStep, hold_session
from engram.console.demo.steps import DemoStep, Labels, person
from engram.console.demo.verdicts import VERDICTS, VerdictStep, take
from engram.kernel.actors import Actor, Claims
from engram.kernel.models import Provenance, Role, Workspace
from memories.core.answers import Answer
from memories.services.commit.commit import Prepared, prepare, write
from memories.services.commit.draft import Draft
from memories.services.lifecycle.forget import forget, restore
from memories.services.lifecycle.revise import revise
from memories.services.recall.recall import Query, recall

STORY = Path(__file__).with_name("story.jsonl")
FILES = (STORY, NOTES, SESSIONS, VERDICTS, RATINGS)
# The story's agents may commit users' statements and pin memories.
PASSES_ON = Claims(Provenance.USER_STATED, may_pin=True)
PAUSE = timedelta(minutes=7)  # between steps of one day


class CommitStep(DemoStep):
    """An agent commits a memory."""

    do: Literal["commit"]
    label: str = ""
    agent: str = ""
    session_key: str = ""
    scope: str = ""
    project: str = ""
    kind: str = "semantic"
    provenance: str = "assistant_derived"
    confidence: float | None = None
    is_pinned: bool = False
    tags: tuple[str, ...] = ()
    supersedes: str | None = None
    derived_from: tuple[str, ...] = ()
    expires_in_days: float | None = None
    content: str
    answers: tuple[Answer, ...] = ()

    def draft(self, labels: Labels, at: datetime) -> Draft:
        """Return what the agent sends."""
        given = {
            "do", "days_ago", "label", "supersedes", "derived_from", "expires_in_days", "answers",
        }  # fmt: skip
        return Draft(
            **self.model_dump(exclude=given),
            answers=self.answers,
            supersedes=labels[self.supersedes] if self.supersedes else None,
            derived_from=tuple(labels[label] for label in self.derived_from),
            expires_at=at + timedelta(days=self.expires_in_days) if self.expires_in_days else None,
            observed_at=at,
        )


class ReviseStep(DemoStep):
    """A person changes a memory in place."""

    do: Literal["revise"]
    of: str
    by: str
    changes: dict[str, Any]


class ForgetStep(DemoStep):
    """A person forgets memories, or brings them back."""

    do: Literal["forget", "restore"]
    of: tuple[str, ...]
    by: str


class RecallStep(DemoStep):
    """An agent asks."""

    do: Literal["recall"]
    agent: str
    query: str
    scope: str = ""


AnyStep = (
    CommitStep | ReviseStep | ForgetStep | RecallStep
    | NoteStep | SessionStep | VerdictStep | RatingStep
)  # fmt: skip
STEP: TypeAdapter[AnyStep] = TypeAdapter(Annotated[AnyStep, Field(discriminator="do")])


def read_story(path: Path = STORY) -> list[AnyStep]:
    """Read the steps of a story."""
    return [STEP.validate_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_all_steps() -> list[AnyStep]:
    """Read the shipped story with its notes, sessions, verdicts and ratings, in time order."""
    steps = [step for path in FILES for step in read_story(path)]
    return sorted(steps, key=lambda step: -step.days_ago)


def embed_story(workspace: Workspace, steps: list[AnyStep]) -> list[Prepared]:
    """Return what every commit of the story needs before its transaction, embedded at once."""
    drafts = [Draft(content=step.content) for step in steps if isinstance(step, CommitStep)]
    if not drafts:
        return []
    ready = prepare(drafts, workspace.embedding_model)
    rows = zip(ready.drafts, ready.hashes, ready.windows, strict=True)
    return [
        replace(ready, drafts=(draft,), hashes=(digest,), windows=(windows,))
        for draft, digest, windows in rows
    ]


def play(
    workspace: Workspace,
    steps: list[AnyStep],
    embedded: list[Prepared],
    *,
    now: datetime,
    advance: Callable[[int], object] = lambda steps: None,
) -> Labels:
    """Take every step at its time; return the memory that each label became."""
    labels: Labels = {}
    unused = iter(embedded)
    for step, at in add_times(steps, now):
        _take(workspace, step, at, unused, labels)
        advance(1)
    return labels


def add_times(steps: list[AnyStep], now: datetime) -> list[tuple[AnyStep, datetime]]:
    """Return the steps with their times; those of one moment follow each other with pauses."""
    taken: Counter[float] = Counter()
    times = []
    for step in steps:
        at = now - timedelta(days=step.days_ago) + taken[step.days_ago] * PAUSE
        times.append((step, at))
        taken[step.days_ago] += 1
    return times


def _take(
    workspace: Workspace,
    step: AnyStep,
    at: datetime,
    embedded: Iterator[Prepared],
    labels: Labels,
) -> None:
    """Take one step; a commit takes the next of what was embedded."""
    if isinstance(step, CommitStep):
        _commit(workspace, step, next(embedded), labels, at)
    elif isinstance(step, SessionStep):
        hold_session(workspace, step, labels, at)
    elif isinstance(step, NoteStep):
        write_note(workspace, step, at)
    elif isinstance(step, VerdictStep):
        take(workspace, step, labels, at)
    elif isinstance(step, SampleStep | RateStep):
        rate(workspace, step, labels, at)
    else:
        _act(workspace, step, labels, at)


def _commit(
    workspace: Workspace, step: CommitStep, embedded: Prepared, labels: Labels, at: datetime
) -> None:
    agent = Actor(kind="system", id="", label=step.agent, role=Role.AGENT, claims=PASSES_ON)
    whole = replace(embedded, drafts=(step.draft(labels, at),))
    (done,) = write(workspace, whole, actor=agent, now=at)
    if step.label and done.memory:
        labels[step.label] = done.memory.id


def _act(
    workspace: Workspace,
    step: ReviseStep | ForgetStep | RecallStep,
    labels: Labels,
    at: datetime,
) -> None:
    match step:
        case ReviseStep():
            revise(workspace, labels[step.of], step.changes, actor=person(step.by), now=at)
        case ForgetStep():
            act = forget if step.do == "forget" else restore
            act(workspace, [labels[i] for i in step.of], actor=person(step.by), now=at)
        case RecallStep():
            agent = Actor(kind="system", id=step.agent, label=step.agent, role=Role.AGENT)
            query = Query(step.query, scope=step.scope, caller=agent.caller)
            recall(workspace, query, now=at)
