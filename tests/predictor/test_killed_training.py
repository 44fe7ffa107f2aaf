"""A worker that is killed (kill -9) at any step of a training leaves the served model as it was."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from predictor.models import ModelVersion, Training, TrainingLease, TrainingStatus
from predictor.services.models import store
from predictor.services.state import lock_state, state_of
from predictor.services.training import turn
from predictor.services.training.due import note_training_due, training_lease
from tests.conftest import Tenant, build_tenant
from tests.killing import kill_at
from tests.predictor.judged import build_world

TRAIN = "predictor.services.training.train"
PROMOTE = "predictor.services.training.promote"
# Where the worker dies, whether the training's row is there by then, and whether it has ended.
STEPS = {
    "before the row is there for good": (TRAIN, "acquire", "after", False, False),
    "after the row": (TRAIN, "_collect", "before", True, False),
    "in the middle of learning": (TRAIN, "_Progress.__call__", "after", True, False),
    "after learning": (TRAIN, "promote.finish", "before", True, False),
    "while it is promoted": (PROMOTE, "store.serve", "after", True, False),
    "after the promotion": (TRAIN, "promote.finish", "after", True, True),
}


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that other processes see."""
    return build_tenant("busy")


def die(tenant: Tenant, module: str, name: str, when: str) -> None:
    """Let a worker train, and kill it at a step."""
    kill_at(tenant, "predictor.tasks.train_workspace", module, name, when)


def due(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        note_training_due(lock_state(timezone.now()), "full", timezone.now())


def served(tenant: Tenant) -> tuple[int | None, bytes]:
    with in_workspace(tenant.workspace):
        number = state_of().served
        assert number is not None
        return number, store.intact_bytes(ModelVersion.objects.get(number=number))


def sweep(tenant: Tenant, after: timedelta) -> list[Any]:
    """Train as the sweep would, so much later: only where somebody waits."""
    now = timezone.now() + after
    return [
        turn.train_turn(workspace_id, clock=lambda: now, rng=np.random.default_rng(2))
        for workspace_id in turn.stalled(now)
    ]


@pytest.mark.parametrize("step", STEPS)
def test_a_worker_killed_at_any_step_keeps_the_served_model(
    shared_tenant: Tenant, step: str
) -> None:
    tenant = shared_tenant
    module, name, when, has_row, has_ended = STEPS[step]
    build_world(tenant.workspace, 15)
    due(tenant)
    assert len(sweep(tenant, timedelta(0))) == 1
    before = served(tenant)
    due(tenant)
    die(tenant, module, name, when)
    assert (served(tenant) == before) == (not has_ended)
    with in_workspace(tenant.workspace):
        running = Training.objects.filter(status=TrainingStatus.RUNNING).count()
    assert running == (has_row and not has_ended)
    # The dead one's lease is nobody's until it has been silent for long enough.
    is_held = has_row and not has_ended
    assert (TrainingLease.objects.get().holder is not None) == is_held
    if is_held:
        assert sweep(tenant, timedelta(0)) == []
    done = sweep(tenant, TrainingLease.silence + timedelta(seconds=5))
    assert len(done) == (not has_ended)
    with in_workspace(tenant.workspace):
        state = state_of()
        lease = training_lease()
        assert (state.served, lease.holder, lease.due_at) == (2, None, None)
        assert ModelVersion.objects.count() == 2
        statuses = list(Training.objects.order_by("started_at").values_list("status", flat=True))
        finished = Event.objects.filter(type="training.finished").count()
    died = [TrainingStatus.FAILED] if has_row and not has_ended else []
    assert statuses == [TrainingStatus.PROMOTED, *died, TrainingStatus.PROMOTED]
    assert finished == 2
