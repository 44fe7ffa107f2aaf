"""Choose the workspace of each detection turn: the one that has waited longest."""

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
    """Run detection for `seconds` in the workspace that has waited longest; return it.

    The order does not depend on which workspace was woken: after its turn a busy workspace comes
    last, however many wake-ups it causes. When a run fails, the next workspace is served too.
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
    """Run the narrative pass for about `seconds` where it has waited longest; return the workspace.

    One workspace per wake-up, even when the model fails: it would fail for the next one too.
    """
    line = dict.fromkeys([*backlog.stalled(clock(), LOOKED_AT_MAX, NarrativeLease), asked_for])
    for workspace_id in line:
        workspace = Workspace.objects.filter(pk=workspace_id).first()
        if workspace is not None and narrate_due(workspace, clock=clock, seconds=seconds):
            return workspace
    return None


def without_wake_up(now: datetime, limit: int) -> list[UUID]:
    """Return the workspaces whose wake-up was probably lost, the longest-waiting first."""
    return backlog.stalled(now - PATIENCE, limit)
