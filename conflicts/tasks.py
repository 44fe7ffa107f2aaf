"""Wake-ups of the detective: ids in, one service call, done."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from conflicts.models import NarrativeLease
from conflicts.services.cards import snooze
from conflicts.services.detection import backlog, turns
from conflicts.services.detection.narrative import NARRATE_TASK, drop_waiting, is_on
from conflicts.services.due import DETECT_TASK
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace

SWEEP_LIMIT = 100
# Then the next workspace has its turn.
SECONDS_A_TURN = 5.0
# A question alone may take longer; the run that asks it is ended first.
MODEL_SECONDS_A_TURN = 60.0


@shared_task(name=DETECT_TASK)
def detect_workspace(workspace_id: str) -> None:
    """Read for one turn, in the workspace that has waited longest, be it this one or another."""
    turns.take_turn(UUID(workspace_id), clock=timezone.now, seconds=SECONDS_A_TURN)


@shared_task(name=NARRATE_TASK)
def narrate_workspace(workspace_id: str) -> None:
    """Let the model read for one turn, in the workspace that has waited longest for it."""
    turns.take_model_turn(UUID(workspace_id), clock=timezone.now, seconds=MODEL_SECONDS_A_TURN)


@shared_task(name="conflicts.sweep_detection")
def sweep_detection() -> None:
    """Wake detection for what a lost wake-up or a dead worker left, longest-waiting first."""
    now = timezone.now()
    for workspace_id in turns.without_wake_up(now, SWEEP_LIMIT):
        wake(DETECT_TASK, workspace_id)
    for workspace in Workspace.objects.filter(
        pk__in=backlog.stalled(now, SWEEP_LIMIT, NarrativeLease)
    ):
        # Where no model is configured nobody may listen to the queue of models.
        if is_on(workspace):
            wake(NARRATE_TASK, workspace.pk)
        else:
            drop_waiting(workspace)


@shared_task(name="conflicts.wake_snoozed")
def wake_snoozed() -> None:
    """Open the cards whose snooze has ended."""
    now = timezone.now()
    for workspace in snooze.due(now):
        snooze.wake_due(workspace, now=now)
