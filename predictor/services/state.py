"""Where the workspace's predictor stands: read by anyone, changed under its row's lock."""

from __future__ import annotations

from datetime import datetime

from engram.kernel.tenancy import current_workspace_id
from predictor.core.governance import Governor
from predictor.models import PredictorState


def state_of() -> PredictorState:
    """Return the state; one at its defaults, not stored, when nothing has happened yet."""
    stored = PredictorState.objects.first()
    return stored or PredictorState(workspace_id=current_workspace_id())


def locked_state(now: datetime) -> PredictorState:
    """Return the state, made when it is missing and locked to the end of the transaction."""
    rows = PredictorState.objects.select_for_update()
    stored = rows.first()
    if stored is None:
        PredictorState.objects.bulk_create([PredictorState(updated_at=now)], ignore_conflicts=True)
        stored = rows.get()
    return stored


def governor_of(state: PredictorState, *, drift_reset_window: int | None = None) -> Governor:
    """Return the governor, anew where it cannot be read; a window replaces the stored one."""
    return Governor.from_json(state.governor, drift_reset_window=drift_reset_window)


def store_governor(state: PredictorState, governor: Governor, now: datetime) -> None:
    """Write the governor, and for readers what they ask of it; the caller holds the lock."""
    state.governor = governor.to_json()
    state.phase = governor.phase.value
    state.alpha = governor.alpha
    state.success_rate = governor.success_rate
    state.scored_sessions = governor.scored_sessions
    state.drift_resets = governor.drift_resets
    state.updated_at = now
    state.save()
