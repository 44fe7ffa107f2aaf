"""How far the running training is, or how far the workspace is on its way to the next one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engram.kernel.models import Workspace
from predictor.models import Training, TrainingStatus
from predictor.services.state import state_of
from predictor.services.status.status import NextTraining, next_training


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """`share` in [0, 1]: of the running training, or of the sessions until the next; None: no way.

    `done` of `wanted` sessions are scored since the last training; None while one runs or is due.
    """

    awaited: NextTraining
    share: float | None
    done: int | None = None
    wanted: int | None = None


def training_progress(workspace: Workspace, *, now: datetime) -> TrainingProgress:
    """Return the progress, by a constant number of queries; called inside the workspace."""
    state = state_of()
    awaited = next_training(state, workspace.config, now)
    if awaited.is_running:
        running = Training.objects.filter(status=TrainingStatus.RUNNING).first()
        return TrainingProgress(awaited, running.progress if running is not None else 0.0)
    if awaited.due_since is not None:
        return TrainingProgress(awaited, 1.0)
    if awaited.missing_sessions is None:
        return TrainingProgress(awaited, None)
    scored, then = state.scored_sessions, state.scored_at_training
    done = scored - then if scored >= then else scored  # it restarts after a reset
    wanted = done + awaited.missing_sessions
    return TrainingProgress(awaited, done / wanted, done, wanted)
