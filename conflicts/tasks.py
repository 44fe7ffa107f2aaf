"""Wake-ups of the detective: ids in, one service call, done."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from conflicts.services import detect, lease, snooze
from conflicts.services.due import DETECT_TASK
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace

SWEEP_LIMIT = 100
# Then the next workspace has its turn.
SECONDS_A_TURN = 5.0


@shared_task(name=DETECT_TASK)
def detect_workspace(workspace_id: str) -> None:
    """Read what is due in one workspace, for one turn."""
    workspace = Workspace.objects.filter(pk=UUID(workspace_id)).first()
    if workspace is not None:
        detect.detect_due(workspace, clock=timezone.now, seconds=SECONDS_A_TURN)


@shared_task(name="conflicts.sweep_detection")
def sweep_detection() -> None:
    """Wake detection for what a lost wake-up or a dead worker left, longest-waiting first."""
    for workspace_id in lease.waiting(timezone.now(), SWEEP_LIMIT):
        wake(DETECT_TASK, workspace_id)


@shared_task(name="conflicts.wake_snoozed")
def wake_snoozed() -> None:
    """Open the cards whose snooze has ended."""
    for workspace in Workspace.objects.all():
        snooze.wake_due(workspace, now=timezone.now())
