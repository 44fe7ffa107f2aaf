"""Whose turn it is to be trained, and what a lost wake-up or a dead worker left behind."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

import numpy as np

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from predictor.models import ModelVersion, PredictorState, Training
from predictor.services import training_slot, unlearn
from predictor.services.claim import close_abandoned, is_free
from predictor.services.state import locked_state
from predictor.services.train import Clock, train_due
from predictor.services.training_due import ERASED, note_training_due
from predictor.signals import may_work


def train_turn(workspace_id: UUID, *, clock: Clock, rng: np.random.Generator) -> Training | None:
    """Train a workspace if no other training computes now; what stays due is found by the sweep."""
    workspace = Workspace.objects.filter(pk=workspace_id).first()
    holder = uuid4()
    if workspace is None or not training_slot.take(holder, clock()):
        return None
    try:
        return train_due(
            workspace, clock=clock, rng=rng, alive=lambda now: training_slot.beat(holder, now)
        )
    finally:
        training_slot.give_back(holder)


def overlooked(now: datetime) -> list[UUID]:
    """Return the workspaces that wait to be trained and that nobody trains, the longest first."""
    waiting = {}
    for workspace in Workspace.objects.all():
        if not may_work(workspace.pk):
            continue
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
            unlearn.drop_erased(workspace, locked_state(now), now)
        return None
    close_abandoned(now)
    is_due = state.training_due_since is not None
    if not is_due and (is_erased or _is_outdated(state, workspace)):
        state = locked_state(now)
        note_training_due(state, ERASED if is_erased else "reembedded", now)
    return state.training_due_since if is_free(state, now) else None


def _is_outdated(state: PredictorState, workspace: Workspace) -> bool:
    """Tell whether the served model reads vectors that the workspace no longer compares.

    Once an attempt was made since the change, the next interval is waited for.
    """
    changed_at = workspace.embedding_changed_at
    if state.served is None or changed_at is None:
        return False
    if state.trained_at is not None and state.trained_at >= changed_at:
        return False
    served = ModelVersion.objects.filter(number=state.served)
    return served.exclude(embedding_model=workspace.embedding_model).exists()
