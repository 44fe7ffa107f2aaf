"""Run one training, from the due row to the served model.

The training's row is written first; nothing is locked during the computation; the result is stored
in one transaction. Safe to kill at any point: the served model stays, and the next sweep closes the
row as failed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np

from engram.kernel.lease import TakenOverError, renewing
from engram.kernel.live import publish
from engram.kernel.locks import one_at_a_time
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from predictor.core.features import WidthError
from predictor.core.labels import MIN_CONFIDENCE
from predictor.models import PredictorState, Training
from predictor.services.state import lock_state, state_of
from predictor.services.training import canary, promote, unlearn
from predictor.services.training.claim import (
    TAKEN_OVER,
    SwitchedOffError,
    TrainingClaim,
    acquire,
    is_one_running,
    renew,
)
from predictor.services.training.dataset import SESSIONS_MAX
from predictor.services.training.due import ERASED, drop_training_due, training_lease
from predictor.services.training.learn import OutOfTimeError, TrainingResult, train_model
from predictor.services.training.material import Material, collect

log = logging.getLogger(__name__)

Clock = Callable[[], datetime]

PROGRESS_EVERY = timedelta(seconds=1)


def train_due(
    workspace: Workspace,
    *,
    clock: Clock,
    rng: np.random.Generator,
) -> Training | None:
    """Train a workspace if it is due and no other training runs; return the training."""
    if workspace.config.predictor_mode == "off":
        _drop_due(workspace, clock())
        return None
    with in_workspace(workspace):
        one_at_a_time("training")
        if is_one_running(clock(), besides=workspace.pk):
            return None
        state, lease = lock_state(clock()), training_lease()
        if lease.due_at is None or unlearn.may_wait(lease, clock()):
            return None
        claim = acquire(state, lease.reason or "manual", rng, clock())
        if training_lease().due_at is None:  # it has failed too often
            unlearn.drop_erased(workspace, state, clock())
    return None if claim is None else _train(workspace, claim, clock=clock)


def train_now(
    workspace: Workspace,
    *,
    reason: str,
    clock: Clock,
    rng: np.random.Generator,
    seed: int | None = None,
) -> Training | None:
    """Train whether it is due or not; None when a training is on its way already."""
    with in_workspace(workspace):
        claim = acquire(lock_state(clock()), reason, rng, clock(), seed=seed, is_asked=True)
    return None if claim is None else _train(workspace, claim, clock=clock)


def _train(workspace: Workspace, claim: TrainingClaim, *, clock: Clock) -> Training:
    material: Material | None = None
    result: TrainingResult | None = None
    error = ""
    try:
        with renewing(lambda: renew(claim, workspace.pk, clock())):
            material = _collect(workspace, claim, clock)
            progress = _Progress(workspace, claim, clock)
            # Who erased sessions may have left too few: what was learned from more goes without a
            # successor.
            least = workspace.config.min_training_sessions if claim.reason == ERASED else 1
            result = train_model(material, seed=claim.seed, progress=progress, least_sessions=least)
    except TakenOverError:
        error = TAKEN_OVER
    except (SwitchedOffError, OutOfTimeError, WidthError) as refusal:
        error = str(refusal)
    except Exception as raised:  # the served model stays
        log.exception("training %s of %s failed", claim.training_id, workspace.pk)
        error = type(raised).__name__  # its message could quote a memory
    return promote.finish(workspace, claim, material, result, error, now=clock())


def trial(
    workspace: Workspace,
    *,
    reason: str,
    seed: int,
    now: datetime,
    limit: int = SESSIONS_MAX,
    min_confidence: float = MIN_CONFIDENCE,
) -> tuple[Material, TrainingResult]:
    """Learn as a training would, and write nothing."""
    with in_workspace(workspace):
        material = collect(
            workspace,
            state_of(),
            reason=reason,
            rng=_canary_rng(seed),
            now=now,
            limit=limit,
            min_confidence=min_confidence,
        )
    return material, train_model(material, seed=seed)


def _canary_rng(seed: int) -> np.random.Generator:
    """Return the source by which a training chooses its canary."""
    return np.random.default_rng([seed, 1])


def _collect(workspace: Workspace, claim: TrainingClaim, clock: Clock) -> Material:
    """Read the material, without a lock, and write down which sessions are the canary."""
    with in_workspace(workspace):
        workspace = Workspace.objects.get(pk=workspace.pk)
        if workspace.config.predictor_mode == "off":
            raise SwitchedOffError
        now, state = clock(), state_of()
        material = collect(
            workspace, state, reason=claim.reason, rng=_canary_rng(claim.seed), now=now
        )
        chosen_at = now if material.is_canary_redrawn else state.canary_chosen_at
        renewed_at = clock()  # reading has taken its time
        # The state is locked first: who deletes a session has it when its canary row goes.
        PredictorState.objects.update(canary_chosen_at=chosen_at)
        Training.objects.filter(pk=claim.training_id).update(heartbeat_at=renewed_at)
        renew(claim, workspace.pk, renewed_at)
        canary.store([session.id for session in material.canary], now)
        return material


class _Progress:
    """Writes the progress at intervals, and raises when the training must stop."""

    def __init__(self, workspace: Workspace, claim: TrainingClaim, clock: Clock) -> None:
        self._workspace, self._claim, self._clock = workspace, claim, clock
        self._last: datetime | None = None

    def __call__(self, share: float) -> None:
        now = self._clock()
        if self._last is not None and timedelta(0) <= now - self._last < PROGRESS_EVERY:
            return
        self._last = now
        with in_workspace(self._workspace):
            running = Training.objects.filter(pk=self._claim.training_id)
            running.update(heartbeat_at=now, progress=share)
            renew(self._claim, self._workspace.pk, now)  # last, as all who change both rows do
            publish(
                self._workspace.pk,
                "training.progress",
                {"object": str(self._claim.training_id), "progress": round(share, 3)},
                seq=None,
                at=now,
            )


def _drop_due(workspace: Workspace, now: datetime) -> None:
    """Clear the due training of a predictor that is off, and drop weights with erased content."""
    with in_workspace(workspace):
        state = PredictorState.objects.select_for_update().first()
        drop_training_due(workspace.pk)
        if state is not None:
            unlearn.drop_erased(workspace, state, now)
