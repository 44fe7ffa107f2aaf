"""Periodic work of the kernel."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from engram.kernel import idempotency
from engram.kernel.models import Workspace


@shared_task(name="kernel.drop_old_answers")
def drop_old_answers() -> None:
    """Delete the answers to idempotent writes that are older than a day."""
    for workspace in Workspace.objects.all():
        idempotency.drop_old_answers(workspace, now=timezone.now())
