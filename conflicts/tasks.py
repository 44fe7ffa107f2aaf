"""Celery tasks of detection: each takes ids and makes one service call."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from conflicts.models import NarrativeLease
from conflicts.services.cards import snooze
from conflicts.services.detection import backlog, turns
from conflicts.services.detection.narrative import NARRATE_TASK, drop_unwanted
from conflicts.services.due import DETECT_TASK
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace

SWEEP_LIMIT = 100
# Time limit of a turn, after which the next workspace is served.
SECONDS_A_TURN = 5.0
# One call of the model may take longer; a running run is finished.
MODEL_SECONDS_A_TURN = 60.0


@shared_task(name=DETECT_TASK)
def detect_workspace(workspace_id: str) -> None:
    """Run detection for one turn, in the workspace that has waited longest."""
    turns.take_turn(UUID(workspace_id), clock=timezone.now, seconds=SECONDS_A_TURN)


@shared_task(name=NARRATE_TASK)
def narrate_workspace(workspace_id: str) -> None:
    """Run the narrative pass for one turn, in the workspace that has waited longest."""
    turns.take_model_turn(UUID(workspace_id), clock=timezone.now, seconds=MODEL_SECONDS_A_TURN)


@shared_task(name="conflicts.sweep_detection")
def sweep_detection() -> None:
    """Wake detection in workspaces with due work and no runner, longest-waiting first."""
    now = timezone.now()
    for workspace_id in turns.without_wake_up(now, SWEEP_LIMIT):
        wake(DETECT_TASK, workspace_id)
    for workspace in Workspace.objects.filter(
        pk__in=backlog.stalled(now, SWEEP_LIMIT, NarrativeLease)
    ):
        # Without a configured model no worker may consume the queue of models.
        if drop_unwanted(workspace):
            wake(NARRATE_TASK, workspace.pk)


@shared_task(name="conflicts.wake_snoozed")
def wake_snoozed() -> None:
    """Open the cards whose snooze has ended."""
    now = timezone.now()
    for workspace in snooze.find_due(now):
        snooze.wake_due(workspace, now=now)
