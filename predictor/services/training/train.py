"""One training, from the row that says it is due to the model that serves, or does not.

The row of the training comes first; nothing is locked while it computes; the end is one
transaction. Killed anywhere, the served model stays, and the next look closes the row as failed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np

from engram.kernel.live import publish
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from predictor.core.features import WidthError
from predictor.core.labels import MIN_CONFIDENCE
from predictor.models import PredictorState, Training
from predictor.services.state import lock_state, state_of
from predictor.services.training import canary, promote, unlearn
from predictor.services.training import claim as claims
from predictor.services.training.claim import Claim, SwitchedOffError, TakenOverError
from predictor.services.training.dataset import SESSIONS_MAX
from predictor.services.training.due import ERASED
from predictor.services.training.learn import Learned, OutOfTimeError, learned
from predictor.services.training.material import Material, collect

log = logging.getLogger(__name__)

Clock = Callable[[], datetime]

BEAT = timedelta(seconds=1)


def train_due(
    workspace: Workspace,
    *,
    clock: Clock,
    rng: np.random.Generator,
    alive: Callable[[datetime], object] = lambda _: None,
) -> Training | None:
    """Train a workspace where that is due and nobody does; tell how it went.

    `alive` is told the time every few seconds.
    """
    if workspace.config.predictor_mode == "off":
        _drop_due(workspace, clock())
        return None
    with in_workspace(workspace):
        state = lock_state(clock())
        if state.training_due_since is None or unlearn.may_wait(state, clock()):
            return None
        claim = claims.take(state, state.training_reason or "manual", rng, clock())
        if state.training_due_since is None:  # it has failed too often
            unlearn.drop_erased(workspace, state, clock())
    return None if claim is None else _train(workspace, claim, clock=clock, alive=alive)


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
        state = lock_state(clock())
        state.training_due_since = None  # what was due for another reason is done by this one, too
        claim = claims.take(state, reason, rng, clock(), seed=seed)
    return None if claim is None else _train(workspace, claim, clock=clock, alive=lambda _: None)


def _train(
    workspace: Workspace, claim: Claim, *, clock: Clock, alive: Callable[[datetime], object]
) -> Training:
    material: Material | None = None
    result: Learned | None = None
    error = ""
    try:
        material = _collected(workspace, claim, clock)
        beats = _Beats(workspace, claim.training_id, clock, alive)
        # Who erased sessions may have left too few: what was learned from more goes without a
        # successor.
        least = workspace.config.min_training_sessions if claim.reason == ERASED else 1
        result = learned(material, seed=claim.seed, progress=beats, least_sessions=least)
    except (TakenOverError, SwitchedOffError, OutOfTimeError, WidthError) as told:
        error = str(told)
    except Exception as raised:  # whatever it was, the served model goes on
        log.exception("training %s of %s failed", claim.training_id, workspace.pk)
        error = type(raised).__name__  # what it says could quote a memory
    return promote.finish(workspace, claim, material, result, error, now=clock())


def trial(
    workspace: Workspace,
    *,
    reason: str,
    seed: int,
    now: datetime,
    limit: int = SESSIONS_MAX,
    min_confidence: float = MIN_CONFIDENCE,
) -> tuple[Material, Learned]:
    """Learn as a training would, and write nothing."""
    with in_workspace(workspace):
        material = collect(
            workspace,
            state_of(),
            reason=reason,
            rng=_choosing(seed),
            now=now,
            limit=limit,
            min_confidence=min_confidence,
        )
    return material, learned(material, seed=seed)


def _choosing(seed: int) -> np.random.Generator:
    """Return the source by which a training chooses its canary."""
    return np.random.default_rng([seed, 1])


def _collected(workspace: Workspace, claim: Claim, clock: Clock) -> Material:
    """Read the material, without a lock, and write down which sessions are the canary."""
    with in_workspace(workspace):
        workspace = Workspace.objects.get(pk=workspace.pk)
        if workspace.config.predictor_mode == "off":
            raise SwitchedOffError
        now, state = clock(), state_of()
        material = collect(
            workspace, state, reason=claim.reason, rng=_choosing(claim.seed), now=now
        )
        chosen_at = now if material.is_canary_redrawn else state.canary_chosen_at
        held = PredictorState.objects.filter(training_holder=claim.training_id)
        beat_at = clock()  # reading has taken its time
        # The state is locked first: who deletes a session has it when its canary row goes.
        if not held.update(canary_chosen_at=chosen_at, training_heartbeat_at=beat_at):
            raise TakenOverError
        canary.store([session.id for session in material.canary], now)
        Training.objects.filter(pk=claim.training_id).update(heartbeat_at=beat_at)
        return material


class _Beats:
    """Says now and then that the training goes on, and learns when it must not."""

    def __init__(
        self,
        workspace: Workspace,
        training_id: UUID,
        clock: Clock,
        alive: Callable[[datetime], object],
    ) -> None:
        self._workspace, self._training_id = workspace, training_id
        self._clock, self._alive = clock, alive
        self._last: datetime | None = None

    def __call__(self, share: float) -> None:
        now = self._clock()
        if self._last is not None and timedelta(0) <= now - self._last < BEAT:
            return
        self._last = now
        self._alive(now)
        with in_workspace(self._workspace):
            held = PredictorState.objects.filter(training_holder=self._training_id)
            if not held.update(training_heartbeat_at=now):
                raise TakenOverError
            Training.objects.filter(pk=self._training_id).update(heartbeat_at=now, progress=share)
            publish(
                self._workspace.pk,
                "training.progress",
                {"object": str(self._training_id), "progress": round(share, 3)},
                seq=None,
                at=now,
            )


def _drop_due(workspace: Workspace, now: datetime) -> None:
    """Let nothing be due where the predictor is off, and nothing stay that was to be replaced."""
    with in_workspace(workspace):
        PredictorState.objects.exclude(training_due_since=None).update(
            training_due_since=None, training_reason="", updated_at=now
        )
        if (state := PredictorState.objects.select_for_update().first()) is not None:
            unlearn.drop_erased(workspace, state, now)
