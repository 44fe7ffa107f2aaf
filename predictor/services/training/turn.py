"""Whose turn it is to be trained, and what a lost wake-up or a dead worker left behind."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

import numpy as np

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from predictor.models import ModelVersion, PredictorState, Training
from predictor.services.models.store import is_readable
from predictor.services.state import lock_state
from predictor.services.training import slot, unlearn
from predictor.services.training.claim import close_abandoned, is_free
from predictor.services.training.due import ERASED, REEMBEDDED, UPGRADED, note_training_due
from predictor.services.training.train import Clock, train_due


def train_turn(workspace_id: UUID, *, clock: Clock, rng: np.random.Generator) -> Training | None:
    """Train a workspace if no other training computes now; what stays due is found by the sweep."""
    workspace = Workspace.objects.filter(pk=workspace_id).first()
    holder = uuid4()
    if workspace is None or not slot.take(holder, clock()):
        return None
    try:
        return train_due(workspace, clock=clock, rng=rng, alive=lambda now: slot.beat(holder, now))
    finally:
        slot.give_back(holder)


def overlooked(now: datetime) -> list[UUID]:
    """Return the workspaces that wait to be trained and that nobody trains, the longest first."""
    waiting = {}
    for workspace in Workspace.objects.all():
        with in_workspace(workspace):
            since = _look(workspace, now)
        if since is not None:
            waiting[workspace.pk] = since
    return sorted(waiting, key=waiting.__getitem__)


def _look(workspace: Workspace, now: datetime) -> datetime | None:
    """Close what died, note what became due by itself; tell since when a training is waited for."""
    state = PredictorState.objects.first()
    if state is None:
        return None
    is_erased = unlearn.is_erased(state)
    if workspace.config.predictor_mode == "off":
        if is_erased:
            unlearn.drop_erased(workspace, lock_state(now), now)
        return None
    close_abandoned(now)
    if is_erased and is_free(state, now):  # a training that has begun in time may end
        state = lock_state(now)
        is_erased = not unlearn.drop_overdue(workspace, state, now)
    is_due = state.training_due_since is not None
    if not is_due and (reason := ERASED if is_erased else _outdated(state, workspace)):
        state = lock_state(now)
        note_training_due(state, reason, now)
    return state.training_due_since if is_free(state, now) else None


def _outdated(state: PredictorState, workspace: Workspace) -> str:
    """Name why the served model can no longer be read; "" when it can.

    Once an attempt was made for that, the next interval is waited for.
    """
    served = ModelVersion.objects.defer("checkpoint").filter(number=state.served or 0).first()
    if served is None:
        return ""
    changed_at = workspace.embedding_changed_at
    if changed_at is not None and served.embedding_model != workspace.embedding_model:
        is_tried = state.trained_at is not None and state.trained_at >= changed_at
        return "" if is_tried else REEMBEDDED
    if is_readable(served):
        return ""
    tried = Training.objects.filter(reason=UPGRADED, started_at__gte=served.created_at)
    return "" if tried.exists() else UPGRADED
