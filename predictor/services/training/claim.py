"""Who trains a workspace: a row with a heartbeat, taken before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np

from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from predictor.models import PredictorState, Training, TrainingStatus
from predictor.services.heartbeat import is_alive, living
from predictor.services.training.material import MIXED

# Who trains and was silent for so long is taken for dead.
SILENCE = timedelta(seconds=60)
# So many trainings that died or raised for one due row, and the next interval is waited for.
TRIES = 3


class TakenOverError(Exception):
    """Somebody else trains this workspace now, its predictor was reset, or something erased."""

    def __init__(self) -> None:
        super().__init__(
            "It was taken over, or the predictor was reset or something erased meanwhile."
        )


class SwitchedOffError(Exception):
    """The workspace wants no predictor any more."""

    def __init__(self) -> None:
        super().__init__("The workspace has switched the predictor off meanwhile.")


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to train a workspace, until its holder falls silent."""

    training_id: UUID
    reason: str
    seed: int
    scored_sessions: int
    drift_resets: int


def take(
    state: PredictorState,
    reason: str,
    rng: np.random.Generator,
    now: datetime,
    *,
    seed: int | None = None,
) -> Claim | None:
    """Write the training's row and take the workspace; the caller holds the state's lock.

    None when somebody is at it, or when it has failed too often: then it is due no more.
    """
    if not is_free(state, now):
        return None
    close_abandoned(now)
    if state.training_due_since is not None and _failures(state.training_due_since) >= TRIES:
        note_attempt(state, reason, scored=state.scored_sessions, now=now)
        release(state, now)
        return None
    training = Training.objects.create(
        reason=reason,
        started_at=now,
        heartbeat_at=now,
        base_version=state.served,
        seed=int(rng.integers(2**62)) if seed is None else seed,
    )
    state.training_holder = training.pk
    state.training_heartbeat_at = state.updated_at = now
    state.save()
    tell(state, "training.started", training, now)
    return Claim(training.pk, reason, training.seed, state.scored_sessions, state.drift_resets)


def is_free(state: PredictorState, now: datetime) -> bool:
    """Tell whether nobody trains, or who did has fallen silent."""
    return state.training_holder is None or not is_alive(state.training_heartbeat_at, now, SILENCE)


def release(state: PredictorState, now: datetime) -> None:
    """Give the workspace back; the caller holds the state's lock."""
    state.training_holder = state.training_heartbeat_at = None
    state.updated_at = now
    state.save()


def close_abandoned(now: datetime) -> int:
    """Close the rows of trainings whose process is gone; called inside the workspace."""
    running = Training.objects.filter(status=TrainingStatus.RUNNING)
    return running.exclude(heartbeat_at__range=living(now, SILENCE)).update(
        status=TrainingStatus.FAILED, finished_at=now, error="The process that trained is gone."
    )


def note_attempt(state: PredictorState, reason: str, *, scored: int, now: datetime) -> None:
    """Count a training from now on, whatever became of it; the caller saves the state."""
    state.training_due_since = None
    state.training_reason = ""
    state.trained_at = now
    state.scored_at_training = scored
    if reason not in MIXED:
        state.fully_trained_at = now
        state.scored_at_full_training = scored


def tell(state: PredictorState, event: str, training: Training, now: datetime) -> None:
    """Write a training into history; ids and numbers only."""
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
