"""Choose the workspace to train next, and find trainings left by lost wake-ups or dead workers."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from uuid import UUID

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet

from engram.kernel import lease
from engram.kernel.due import waiting_since
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from predictor.models import ModelVersion, PredictorState, Training, TrainingLease
from predictor.services.models.store import is_readable, likely_readable
from predictor.services.training import unlearn
from predictor.services.training.claim import close_abandoned
from predictor.services.training.due import (
    ERASED,
    REEMBEDDED,
    UPGRADED,
    drop_training_due,
    note_training_due,
    training_lease,
)
from predictor.services.training.train import Clock, train_due


def train_turn(workspace_id: UUID, *, clock: Clock, rng: np.random.Generator) -> Training | None:
    """Train a workspace if no other training runs now; the sweep finds what stays due."""
    workspace = Workspace.objects.filter(pk=workspace_id).first()
    return None if workspace is None else train_due(workspace, clock=clock, rng=rng)


def stalled(now: datetime) -> list[UUID]:
    """Return the workspaces that wait to be trained and that nobody trains, the longest first."""
    waiting = {}
    for workspace in _to_look_at(now):
        with in_workspace(workspace):
            since = _look(workspace, now)
        if since is not None:
            waiting[workspace.pk] = since
    return sorted(waiting, key=waiting.__getitem__)


def _to_look_at(now: datetime) -> list[Workspace]:
    """Return the workspaces where a training is due, has died, or may have become due by itself."""
    due = lease.stalled(TrainingLease.objects.all(), now).values_list("workspace_id", flat=True)
    running = waiting_since(partial(Training.objects.filter, status="running"), "started_at")
    outdated = waiting_since(_select_maybe_outdated, "updated_at")
    return list(Workspace.objects.filter(pk__in={*due, *running, *outdated}))


def _select_maybe_outdated() -> QuerySet[PredictorState]:
    """Return the states whose served model may contain something erased, or may be unreadable."""
    readable = likely_readable(OuterRef("workspace__embedding_model"))
    intact = readable.filter(number=OuterRef("served"), erased_at=None)
    return PredictorState.objects.filter(~Exists(intact), served__isnull=False)


def _look(workspace: Workspace, now: datetime) -> datetime | None:
    """Close dead trainings and mark those that became due by time; return since when one is due."""
    state = PredictorState.objects.select_for_update().first()
    if state is None:
        return None
    if workspace.config.predictor_mode == "off":
        drop_training_due(workspace.pk)
        unlearn.drop_erased(workspace, state, now)
        return None
    close_abandoned(now)
    is_erased = unlearn.is_erased(state)
    if is_erased and not training_lease().is_held(now):  # one that has begun in time may end
        is_erased = not unlearn.drop_overdue(workspace, state, now)
    reason = ERASED if is_erased else _why_outdated(state, workspace)
    if reason and training_lease().due_at is None:
        note_training_due(state, reason, now)
    waiting = training_lease()
    return None if waiting.is_held(now) else waiting.due_at


def _why_outdated(state: PredictorState, workspace: Workspace) -> str:
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
