"""The right to train a workspace: a lease and the training's row, written before computing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from engram.kernel import lease
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.lease import lease_of, time_around
from predictor.models import PredictorState, Training, TrainingLease, TrainingStatus
from predictor.services.training.due import drop_training_due, training_lease
from predictor.services.training.material import MIXED

# So many trainings that died or raised for one due row, and the next interval is waited for.
TRIES = 3


TAKEN_OVER = "It was taken over, or the predictor was reset or something erased meanwhile."


class SwitchedOffError(Exception):
    """Raised when the workspace's predictor was switched off."""

    def __init__(self) -> None:
        super().__init__("The workspace has switched the predictor off meanwhile.")


@dataclass(frozen=True, slots=True)
class TrainingClaim:
    """The right to train a workspace, as long as its holder writes heartbeats."""

    training_id: UUID
    reason: str
    seed: int
    scored_sessions: int
    drift_resets: int


def acquire(
    state: PredictorState,
    reason: str,
    rng: np.random.Generator,
    now: datetime,
    *,
    seed: int | None = None,
    is_asked: bool = False,
) -> TrainingClaim | None:
    """Create the training's row and hold the workspace; the caller holds the state's lock.

    Return None while another training runs, or when trainings failed too often, unless a person
    requested this one; then it is no longer due. A requested training replaces a due one. Without
    the lease there is no training.
    """
    held = lease_of(TrainingLease, state.workspace_id)
    due = held.get()
    if due.is_held(now):
        return None
    close_abandoned(now)
    if not is_asked and due.due_at is not None and _failures(due.due_at) >= TRIES:
        note_attempt(state, reason, scored=state.scored_sessions, now=now)
        lease.revoke(held)  # from one that has died
        return None
    training = Training(
        reason=reason,
        started_at=now,
        heartbeat_at=now,
        base_version=state.served,
        seed=int(rng.integers(2**62)) if seed is None else seed,
    )
    if not lease.acquire(held, training.pk, now):
        return None
    if is_asked:
        drop_training_due(state.workspace_id)
    training.save()
    record_training(state, "training.started", training, now)
    return TrainingClaim(
        training.pk, reason, training.seed, state.scored_sessions, state.drift_resets
    )


def is_one_running(now: datetime, besides: UUID) -> bool:
    """Return whether a training runs in another workspace.

    A training computes for seconds: two at once would delay detection and judging on a machine with
    two worker processes, so the next one waits.
    """
    leases = TrainingLease.objects.exclude(workspace_id=besides)
    return leases.filter(lease.match_held(leases, now)).exists()


def renew(claim: TrainingClaim, workspace_id: UUID, now: datetime) -> None:
    """Write a heartbeat; raise `TakenOverError` when the training may not promote any more."""
    lease.renew_or_raise(lease_of(TrainingLease, workspace_id), claim.training_id, now)


def holds(claim: TrainingClaim, workspace_id: UUID) -> bool:
    """Return whether a training may still promote; the caller holds the state's lock."""
    return TrainingLease.objects.filter(
        workspace_id=workspace_id, holder=claim.training_id
    ).exists()


def close_abandoned(now: datetime) -> int:
    """Close the rows of trainings whose process died; called inside the workspace."""
    running = Training.objects.filter(status=TrainingStatus.RUNNING)
    silent = running.exclude(heartbeat_at__range=time_around(now, TrainingLease.silence))
    if holder := training_lease().living_holder(now):  # its last progress may be long ago
        silent = silent.exclude(pk=holder)
    return silent.update(
        status=TrainingStatus.FAILED, finished_at=now, error="The process that trained is gone."
    )


def note_attempt(state: PredictorState, reason: str, *, scored: int, now: datetime) -> None:
    """Count the next interval from this training, whatever its result; the state is locked."""
    drop_training_due(state.workspace_id)
    state.trained_at = now
    state.scored_at_training = scored
    if reason not in MIXED:
        state.fully_trained_at = now
        state.scored_at_full_training = scored
    state.updated_at = now
    state.save()


def record_training(state: PredictorState, event: str, training: Training, now: datetime) -> None:
    """Record the event of a training; it holds ids and numbers only."""
    record(
        event,
        of=("training", training.pk),
        actor=SYSTEM,
        now=now,
        data={
            "status": training.status,
            "reason": training.reason,
            "sessions": training.session_count,
            "version": training.version,
            "served": state.served,
            "failed_gates": [gate["name"] for gate in training.gates if not gate["is_passed"]],
        },
    )


def _failures(since: datetime) -> int:
    return Training.objects.filter(status=TrainingStatus.FAILED, started_at__gte=since).count()
