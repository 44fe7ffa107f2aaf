"""Notes of the demo's story, which agents write and rewrite."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

from engram.console.demo.steps import DemoStep
from engram.kernel.actors import Actor
from engram.kernel.models import Role, Workspace
from memories.services.drift.check import check_due
from memories.services.notes.draft import NoteDraft
from memories.services.notes.put import put_note

NOTES = Path(__file__).with_name("notes.jsonl")  # notes, and the memories that link them


class NoteStep(DemoStep):
    """An agent creates or replaces a note."""

    do: Literal["note"]
    path: str
    agent: str
    content: str


def write_note(workspace: Workspace, step: NoteStep, at: datetime) -> None:
    """Put a note; what memories lean on is read before, and compared after, as by a worker."""
    agent = Actor(kind="system", id="", label=step.agent, role=Role.AGENT)
    check_due(workspace, now=at)
    put_note(workspace, NoteDraft(step.path, step.content), actor=agent, now=at)
    check_due(workspace, now=at)
