"""Decide when a workspace's ranker is due for training; checked after every settled session."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.jobs import wake
from engram.kernel.lease import lease_of
from engram.kernel.tenancy import current_workspace_id
from predictor.models import PredictorState, TrainingLease

TRAIN_TASK = "predictor.train_workspace"

FULL_EVERY = timedelta(days=7)
FULL_SESSIONS = 50  # scored since the last full training

# Something was erased that the served model may have learned from.
ERASED = "erased"

# The served model cannot be read: the workspace compares other vectors, or this release reads
# other features or another format.
REEMBEDDED, UPGRADED = "reembedded", "upgraded"

# Of two reasons the one named first is kept.
REASONS = (ERASED, "drift", REEMBEDDED, UPGRADED, "manual", "first", "full", "interval")

# What each reason means, to stand behind a colon.
WHY: Final[Mapping[str, str]] = {
    ERASED: "something that was learned from was erased",
    "drift": "the learned ranking had fallen behind the baseline",
    REEMBEDDED: "the memories have another embedding model",
    UPGRADED: "this release cannot read what was learned before",
    "manual": "somebody asked for it",
    "first": "enough judged to begin",
    "full": "time to learn from all sessions",
    "interval": "enough new sessions judged",
}


def due_reason(
    state: PredictorState, config: WorkspaceSettings, now: datetime, *, is_reset: bool = False
) -> str:
    """Return why a training is due now, "" when none is.

    `is_reset` means that drift was just found. Counted from the last training, whatever its result,
    so that a failed one is not repeated at once.
    """
    if config.predictor_mode == "off":
        return ""
    if is_reset:
        return "drift"
    scored = state.scored_sessions
    newly = _since(scored, state.scored_at_training)
    if scored < config.min_training_sessions or not newly:
        return ""
    if state.served is None:
        wanted = config.train_interval_sessions if state.trained_at else 1
        return "first" if newly >= wanted else ""
    if _is_full_due(state, now):
        return "full"
    return "interval" if newly >= config.train_interval_sessions else ""


def note_training_due(state: PredictorState, reason: str, now: datetime) -> None:
    """Write down that a training is due and wake a worker; the caller holds the state's lock."""
    rows = lease_of(TrainingLease, state.workspace_id)
    lease = rows.get()
    waiting = lease.reason if lease.due_at else ""
    first = min((r for r in (waiting, reason) if r), key=REASONS.index)
    rows.update(due_at=lease.due_at or now, reason=first)
    wake(TRAIN_TASK, state.workspace_id)


def training_lease() -> TrainingLease:
    """Return the lease of the workspace being served; one at its defaults, not stored, at first."""
    workspace_id = current_workspace_id()
    stored = TrainingLease.objects.filter(workspace_id=workspace_id).first()
    return stored or TrainingLease(workspace_id=workspace_id)


def drop_training_due(workspace_id: UUID) -> None:
    """Clear the due training; the caller holds the state's lock."""
    TrainingLease.objects.filter(workspace_id=workspace_id).update(due_at=None, reason="")


def _is_full_due(state: PredictorState, now: datetime) -> bool:
    is_old = state.fully_trained_at is None or now - state.fully_trained_at >= FULL_EVERY
    return is_old or _since(state.scored_sessions, state.scored_at_full_training) >= FULL_SESSIONS


def _since(scored: int, then: int) -> int:
    """Return the number of sessions scored since; it restarts after a reset of the predictor."""
    return scored - then if scored >= then else scored
