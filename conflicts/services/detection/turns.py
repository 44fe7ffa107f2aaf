"""Whose turn it is: every wake-up reads where people have waited longest."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from conflicts.models import NarrativeLease
from conflicts.services.detection import backlog
from conflicts.services.detection.detect import Clock, detect_due
from conflicts.services.detection.narrate import narrate_due
from engram.kernel.models import Workspace

# So many workspaces are looked at for one that no other worker is at and that can be read.
LOOKED_AT_MAX = 20
# A workspace that waits for less has its wake-up on the way.
PATIENCE = timedelta(seconds=10)


def take_turn(asked_for: UUID, *, clock: Clock, seconds: float) -> Workspace | None:
    """Read for `seconds` where people have waited longest; tell where.

    Whoever a wake-up was for, the line counts: after its turn a flood stands last in it, however
    many wake-ups it has caused. Where reading fails the next one has its turn besides.
    """
    # Last who was asked for: where clocks differ it may wait from a moment on that is not yet.
    line = dict.fromkeys([*backlog.stalled(clock(), LOOKED_AT_MAX), asked_for])
    for workspace_id in line:
        workspace = Workspace.objects.filter(pk=workspace_id).first()
        if workspace is None:
            continue
        runs = detect_due(workspace, clock=clock, seconds=seconds)
        if any(run.status == "done" for run in runs):
            return workspace
    return None


def take_model_turn(asked_for: UUID, *, clock: Clock, seconds: float) -> Workspace | None:
    """Let the model read for about `seconds` where it was waited for longest; tell where.

    One workspace a wake-up even where the model fails: it would fail the next one, too.
    """
    line = dict.fromkeys([*backlog.stalled(clock(), LOOKED_AT_MAX, NarrativeLease), asked_for])
    for workspace_id in line:
        workspace = Workspace.objects.filter(pk=workspace_id).first()
        if workspace is not None and narrate_due(workspace, clock=clock, seconds=seconds):
            return workspace
    return None


def without_wake_up(now: datetime, limit: int) -> list[UUID]:
    """Return the workspaces whose wake-up seems to be lost, the longest-waiting first."""
    return backlog.stalled(now - PATIENCE, limit)
