"""Celery tasks of the console: each calls one service."""

from __future__ import annotations

import random
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from engram.console.digests import sweeps
from engram.console.webhooks import pruning, sending
from engram.console.webhooks.enqueue import SEND_TASK
from engram.kernel.due import due_workspaces
from engram.kernel.models import Workspace

CHANGE_SECONDS = 20.0  # then other work has its turn

_draw = random.SystemRandom().random


@shared_task(name=SEND_TASK)
def send_webhooks(workspace_id: str) -> None:
    """Send the deliveries of one workspace that are due, for some seconds."""
    workspace = Workspace.objects.filter(pk=UUID(workspace_id)).first()
    if workspace is not None and settings.ENGRAM_OUTGOING:
        sending.send_due(workspace, clock=timezone.now, draw=_draw, seconds=sending.TURN_SECONDS)


@shared_task(name="console.change_memories")
def change_memories(workspace_id: str) -> None:
    """Go on with a change of many memories for some seconds; the sweep of jobs wakes it again."""
    from engram.console.memories import change_run  # loads the forms, which few workers need

    change_run.change_turn(UUID(workspace_id), clock=timezone.now, seconds=CHANGE_SECONDS)


@shared_task(name="console.sweep_webhooks")
def sweep_webhooks() -> None:
    """Wake workers for deliveries that are due after a pause, a lost wake-up or a dead worker."""
    if settings.ENGRAM_OUTGOING:
        sending.sweep(timezone.now())


@shared_task(name="console.drop_old_deliveries")
def drop_old_deliveries() -> None:
    """Delete deliveries that were queued long ago."""
    now = timezone.now()
    for workspace in due_workspaces(lambda: pruning.old_deliveries(now), "queued_at"):
        pruning.drop_old(workspace, now=now)


@shared_task(name="console.sweep_digests")
def sweep_digests() -> None:
    """Wake workers for digests whose hour has come, and for mails that are due."""
    if settings.ENGRAM_OUTGOING:
        sweeps.wake_due(timezone.now())


@shared_task(name=sweeps.MAKE_TASK)
def make_digest(workspace_id: str) -> None:
    """Make the digest of one workspace that is due."""
    from engram.console.digests import make  # loads the inbox, which few workers need

    workspace = Workspace.objects.filter(pk=UUID(workspace_id)).first()
    if workspace is not None and settings.ENGRAM_OUTGOING:
        make.run(workspace, now=timezone.now())


@shared_task(name=sweeps.MAIL_TASK)
def send_mails(workspace_id: str) -> None:
    """Send the mails of one workspace that are due, for some seconds."""
    from engram.console.digests import mails  # loads the inbox, which few workers need

    workspace = Workspace.objects.filter(pk=UUID(workspace_id)).first()
    if workspace is not None and settings.ENGRAM_OUTGOING:
        seconds = sending.TURN_SECONDS
        mails.send_due(workspace, clock=timezone.now, draw=_draw, seconds=seconds)


@shared_task(name="console.drop_old_digests")
def drop_old_digests() -> None:
    """Delete digests that were made long ago."""
    sweeps.drop_old(timezone.now())
