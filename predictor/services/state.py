"""Read and write the state of the workspace's predictor; writes happen under its row's lock."""

from __future__ import annotations

import json
from datetime import datetime

from django.db import connection

from engram.kernel.tenancy import current_workspace_id
from predictor.core.governance import Governor
from predictor.models import PredictorState

# The columns that a session start reads, by plain SQL, because every session start reads them.
_SERVING = (
    "id",
    "workspace_id",
    "phase",
    "alpha",
    "draft_share",
    "relevance",
    "success_rate",
    "scored_sessions",
    "served",
    "disabled_until",
    "failures_count_from",
)
_READ = f"SELECT {', '.join(_SERVING)} FROM predictor_predictorstate WHERE workspace_id = %s"  # noqa: S608  names only


def state_of() -> PredictorState:
    """Return the state, or an unsaved one with defaults when none is stored."""
    stored = PredictorState.objects.first()
    return stored or PredictorState(workspace_id=current_workspace_id())


def serving_state() -> PredictorState:
    """Return the state with only the columns that serving reads, or defaults."""
    with connection.cursor() as cursor:
        cursor.execute(_READ, [current_workspace_id()])
        row = cursor.fetchone()
    if row is None:
        return PredictorState(workspace_id=current_workspace_id())
    values = dict(zip(_SERVING, row, strict=True))
    values["relevance"] = json.loads(values["relevance"])  # Django's cursors give JSON as text
    return PredictorState.from_db(connection.alias, _SERVING, list(values.values()))


def lock_state(now: datetime) -> PredictorState:
    """Return the state, created when missing, locked until the transaction ends."""
    rows = PredictorState.objects.select_for_update()
    stored = rows.first()
    if stored is None:
        PredictorState.objects.bulk_create([PredictorState(updated_at=now)], ignore_conflicts=True)
        stored = rows.get()
    return stored


def governor_of(state: PredictorState, *, drift_reset_window: int | None = None) -> Governor:
    """Return the stored governor, or the initial one when it cannot be read.

    A given window replaces the stored one.
    """
    return Governor.from_json(state.governor, drift_reset_window=drift_reset_window)


def store_governor(state: PredictorState, governor: Governor, now: datetime) -> None:
    """Store the governor and the columns copied from it; the caller holds the lock."""
    state.governor = governor.to_json()
    state.phase = governor.phase.value
    state.alpha = governor.alpha
    state.draft_share = governor.draft_share
    state.success_rate = governor.success_rate
    state.scored_sessions = governor.scored_sessions
    state.drift_resets = governor.drift_resets
    state.updated_at = now
    state.save()
