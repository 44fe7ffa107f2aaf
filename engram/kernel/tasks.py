"""Periodic work of the kernel."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from engram.kernel import idempotency, latency
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace


@shared_task(name="kernel.drop_old_answers")
def drop_old_answers() -> None:
    """Delete the answers to idempotent writes that are older than a day."""
    for workspace in Workspace.objects.all():
        idempotency.drop_old_answers(workspace, now=timezone.now())


@shared_task(name="kernel.drop_old_latencies")
def drop_old_latencies() -> None:
    """Delete the latencies that no window reaches any more."""
    for workspace in Workspace.objects.all():
        with in_workspace(workspace):
            latency.drop_old(timezone.now())
