"""Two workers that take the same training at once: one trains, by the lease alone if need be."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from threading import Barrier
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.db import connections

from engram.kernel import lease
from engram.kernel.actors import SYSTEM
from engram.kernel.lease import lease_of
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from predictor.models import ModelVersion, Training, TrainingLease, TrainingStatus
from predictor.services.models.reset import reset
from predictor.services.state import state_of
from predictor.services.training import claim, train, turn
from predictor.services.training.due import training_lease
from tests.conftest import build_tenant
from tests.homes import PATIENCE_SECONDS
from tests.predictor.judged import build_world
from tests.predictor.test_train import LATER, due

WORKERS = 2

Take = Callable[[Workspace], Training | None]


@pytest.fixture
def workspace(transactional_db: None) -> Workspace:
    """Return a workspace with a due training, seen by all connections."""
    workspace = build_tenant("busy").workspace
    build_world(workspace, 15)
    due(workspace)
    return workspace


def take_due(workspace: Workspace) -> Training | None:
    return turn.train_turn(workspace.pk, clock=lambda: LATER, rng=np.random.default_rng(2))


def take_requested(workspace: Workspace) -> Training | None:
    rng = np.random.default_rng(2)
    return train.train_now(workspace, reason="manual", clock=lambda: LATER, rng=rng)


def at_once(workspace: Workspace, take: Take) -> list[Training]:
    """Let two workers take a training at the same time; return those that were carried out."""
    together = Barrier(WORKERS)

    def work() -> Training | None:
        try:
            together.wait(PATIENCE_SECONDS)
            return take(workspace)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(WORKERS) as pool:
        working = [pool.submit(work) for _ in range(WORKERS)]
        done = [one.result(PATIENCE_SECONDS) for one in working]
    return [training for training in done if training is not None]


def assert_one_trained(workspace: Workspace, trained: list[Training]) -> None:
    with in_workspace(workspace):
        assert list(Training.objects.all()) == trained
        assert ModelVersion.objects.count() == 1
        held = training_lease()
    assert [training.status for training in trained] == [TrainingStatus.PROMOTED]
    assert (held.holder, held.heartbeat_at) == (None, None)


def test_of_two_workers_that_take_a_due_training_one_trains(workspace: Workspace) -> None:
    trained = at_once(workspace, take_due)
    assert_one_trained(workspace, trained)
    with in_workspace(workspace):
        assert training_lease().due_at is None


def test_the_lease_alone_keeps_a_second_worker_from_training(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both read that nobody has the lease, then both acquire it, without the lock on the state."""
    both_have_looked = Barrier(WORKERS)
    close_abandoned = claim.close_abandoned

    def look_together(now: datetime) -> int:
        both_have_looked.wait(PATIENCE_SECONDS)
        return close_abandoned(now)

    monkeypatch.setattr(train, "lock_state", lambda now: state_of())
    monkeypatch.setattr(claim, "close_abandoned", look_together)
    assert_one_trained(workspace, at_once(workspace, take_requested))


def test_who_does_not_get_the_lease_leaves_no_training_behind(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = uuid4()

    def lose(now: datetime) -> int:
        rows = lease_of(TrainingLease, workspace.pk)
        assert lease.acquire(rows, other, now)
        return 0

    monkeypatch.setattr(claim, "close_abandoned", lose)
    assert take_requested(workspace) is None
    with in_workspace(workspace):
        assert not Training.objects.exists()
        held = training_lease()
    assert held.holder == other
    assert held.due_at is not None  # the request has not replaced what is due


def test_a_reset_takes_the_workspace_from_a_running_training(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn = train.train_model

    def reset_and_learn(*args: Any, **kwargs: Any) -> Any:
        reset(workspace, actor=SYSTEM, now=LATER)
        return learn(*args, **kwargs)

    monkeypatch.setattr(train, "train_model", reset_and_learn)
    training = take_due(workspace)
    assert training is not None
    assert (training.status, training.error) == (TrainingStatus.FAILED, claim.TAKEN_OVER)
    with in_workspace(workspace):
        assert not ModelVersion.objects.exists()
        assert training_lease().holder is None
