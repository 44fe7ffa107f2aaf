"""What people and the janitor did in the demo's story: conflicts decided, merges judged.

They stand in a file of their own, with the memories that they are about: the evaluation of recall
plays the story without them.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal
from uuid import UUID

from django.db.models import Max
from pydantic import Field

from conflicts.models import Conflict
from conflicts.services import due
from conflicts.services.cards.snooze import snooze
from conflicts.services.detection.detect import detect_due
from conflicts.services.verdicts.resolve import resolve
from engram.console.demo.steps import DemoStep, Labels, person
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Merge, Observation
from memories.services.gate.audit import audit
from memories.services.janitor import run as janitor

VERDICTS = Path(__file__).with_name("verdicts.jsonl")


class DetectStep(DemoStep):
    """The detective reads memories that were due since their commits, as a worker does.

    The rest of the story it reads at the end.
    """

    do: Literal["detect"]
    of: tuple[str, ...]


class DecideStep(DemoStep):
    """A person answers the conflict of some memories."""

    do: Literal["decide"]
    of: tuple[str, ...]
    by: str
    verdict: str
    note: str = ""


class SnoozeStep(DemoStep):
    """A person puts the conflict of some memories off."""

    do: Literal["snooze"]
    of: tuple[str, ...]
    by: str
    for_days: float = Field(gt=0)


class AuditStep(DemoStep):
    """A person judges the gate's merge of a statement into the memory that already said it."""

    do: Literal["audit"]
    of: str
    by: str
    is_correct: bool


class JanitorStep(DemoStep):
    """The janitor runs, as it does every week."""

    do: Literal["janitor"]


VerdictStep = DetectStep | DecideStep | SnoozeStep | AuditStep | JanitorStep


def take(workspace: Workspace, step: VerdictStep, labels: Labels, at: datetime) -> None:
    """Take a step at its time."""
    match step:
        case DetectStep():
            _queue_since_commit(workspace, [labels[label] for label in step.of])
            detect_due(workspace, clock=lambda: at)
        case DecideStep():
            card = _card_of(workspace, step.of, labels)
            resolve(
                workspace, card, verdict=step.verdict, note=step.note, actor=person(step.by), now=at
            )
        case SnoozeStep():
            until = at + timedelta(days=step.for_days)
            card = _card_of(workspace, step.of, labels)
            snooze(workspace, card, until=until, actor=person(step.by), now=at)
        case AuditStep():
            with in_workspace(workspace):
                merge = Merge.objects.get(memory=labels[step.of])
            audit(workspace, merge.pk, is_correct=step.is_correct, actor=person(step.by), now=at)
        case JanitorStep():
            janitor.run(workspace, actor=SYSTEM, now=at)


def _queue_since_commit(workspace: Workspace, memory_ids: list[UUID]) -> None:
    """Queue memories as due since each was last committed, by the story's clock."""
    with in_workspace(workspace):
        said = Observation.objects.filter(memory__in=memory_ids).order_by()
        for memory_id, since in said.values_list("memory").annotate(Max("created_at")):
            due.note_written(Memory, memory_ids=[memory_id], now=since)


def _card_of(workspace: Workspace, of: tuple[str, ...], labels: Labels) -> UUID:
    """Return the conflict that has all of the memories."""
    with in_workspace(workspace):
        cards = Conflict.objects.all()
        for label in of:
            cards = cards.filter(members__memory=labels[label])
        return cards.get().pk
