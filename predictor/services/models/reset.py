"""Reset the predictor to cold start; all records stay."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.lease import revoke
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from predictor.core.governance import Governor
from predictor.models import PredictorState, TrainingLease
from predictor.services.models import store
from predictor.services.state import lock_state, store_governor


def reset(workspace: Workspace, *, actor: Actor, now: datetime) -> None:
    """Stop serving a model, drop the evidence and close the breaker; the next training is full."""
    with in_workspace(workspace):
        state = lock_state(now)
        state.disabled_until = None
        state.failures_count_from = now
        cold_start(state, workspace, reason="asked", actor=actor, now=now)


def cold_start(
    state: PredictorState, workspace: Workspace, *, reason: str, actor: Actor, now: datetime
) -> None:
    """Reset a locked state and record the event.

    A running training loses its holder, so it cannot promote. Version numbers continue, so that a
    number never names two models. Only weights that may hold something erased are dropped.
    """
    dropped = state.served
    # Sessions that a dropped model ranked may be settled later; they are no evidence for the next.
    state.last_dropped = max(state.last_version, state.last_dropped, dropped or 0)
    state.served = None
    state.relevance = {}
    state.trained_at = state.fully_trained_at = None
    state.scored_at_training = state.scored_at_full_training = state.scored_at_calibration = 0
    revoke(TrainingLease.objects.filter(workspace=workspace), due_at=None, reason="")
    beginning = Governor.initial(drift_reset_window=workspace.config.drift_reset_window)
    store_governor(state, beginning, now)
    store.drop_weights(Q(erased_at__isnull=False), served=None)
    record(
        "predictor.reset",
        of=("predictor", workspace.pk),
        actor=actor,
        now=now,
        data={"reason": reason, "version": dropped},
    )
