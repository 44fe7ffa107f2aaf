"""Periodic work on memories: ids in, one service call, done."""

from __future__ import annotations

from celery import shared_task

from engram.kernel.models import Workspace
from memories.services import counting, heal


@shared_task(name="memories.count_recalls")
def count_recalls() -> None:
    """Add recorded recalls to the counters, workspace by workspace."""
    for workspace in Workspace.objects.all():
        counting.count_recalls(workspace)


@shared_task(name="memories.embed_pending")
def embed_pending() -> None:
    """Embed what could not be embedded before."""
    for workspace in Workspace.objects.all():
        while heal.embed_pending(workspace):
            pass
