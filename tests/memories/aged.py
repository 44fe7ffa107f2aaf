"""A workspace that has logged recalls for a long time, with memories that nobody needs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import JanitorAction, JanitorRun, Memory
from memories.services.commit.commit import commit
from memories.services.commit.draft import Draft
from tests.conftest import NOW

WEEK = timedelta(days=7)
LONG_AGO = NOW - timedelta(days=200)
# Nothing that one memory says may look like another: the gate would merge them.
SUBJECTS = (
    "The lift in building seven stops at odd floors only.",
    "Grape harvest starts when the sugar reaches twenty.",
    "Radio traffic on channel nine is encrypted.",
    "Marble from Carrara arrives in wooden crates.",
    "The night shift drinks chamomile tea.",
    "Tax forms are archived in the cellar.",
)


def age(workspace: Workspace, since: datetime = NOW - timedelta(days=900)) -> None:
    """Let the recall log of a workspace have begun long ago."""
    Workspace.objects.filter(pk=workspace.pk).update(created_at=since)
    workspace.created_at = since


def remember(
    workspace: Workspace, content: str = SUBJECTS[0], *, at: datetime = LONG_AGO, **fields: Any
) -> Memory:
    """Commit a memory at a time."""
    memory = commit(workspace, Draft(content=content, **fields), actor=SYSTEM, now=at).memory
    assert memory is not None
    return memory


def fresh(workspace: Workspace, memory: Memory) -> Memory:
    """Return a memory as it is stored now."""
    with in_workspace(workspace):
        return Memory.objects.get(pk=memory.pk)


def stored(workspace: Workspace) -> list[Any]:
    """Return everything that a janitor could change in a workspace."""
    with in_workspace(workspace):
        return [
            list(Memory.objects.order_by("pk").values()),
            list(JanitorRun.objects.order_by("pk").values()),
            list(JanitorAction.objects.order_by("pk").values()),
        ]
