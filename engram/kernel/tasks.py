"""Periodic tasks of the kernel."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from engram.kernel import deletion, idempotency, job_queue, latency
from engram.kernel.due import due_workspaces, waiting_since
from engram.kernel.tenancy import in_workspace

DELETION_SECONDS = 10.0  # then other work has its turn


@shared_task(name="kernel.drop_old_answers")
def drop_old_answers() -> None:
    """Delete stored responses to idempotent writes older than a day."""
    now = timezone.now()
    for workspace in due_workspaces(lambda: idempotency.old_answers(now), "created_at"):
        idempotency.drop_old_answers(workspace, now=now)


@shared_task(name="kernel.drop_old_latencies")
def drop_old_latencies() -> None:
    """Delete latencies older than the longest window."""
    now = timezone.now()
    old = {
        **waiting_since(lambda: latency.select_old_hours(now), "hour"),
        **waiting_since(lambda: latency.select_old_tallies(now), "last_at"),
    }
    for workspace_id in old:
        with in_workspace(workspace_id):
            latency.drop_old(now)


@shared_task(name="kernel.sweep_jobs")
def sweep_jobs() -> None:
    """Wake workers for jobs that are due after a pause, a lost wake-up or a dead worker."""
    job_queue.wake_stalled(timezone.now())


@shared_task(name="kernel.drop_old_jobs")
def drop_old_jobs() -> None:
    """Delete jobs that ended long ago."""
    now = timezone.now()
    for workspace in due_workspaces(lambda: job_queue.old_jobs(now), "finished_at"):
        job_queue.drop_old(workspace, now=now)


@shared_task(name=deletion.TASK)
def delete_workspace(deletion_id: str) -> None:
    """Go on with the deletion of a workspace for some seconds."""
    deletion.delete_turn(UUID(deletion_id), clock=timezone.now, seconds=DELETION_SECONDS)


@shared_task(name="kernel.sweep_deletions")
def sweep_deletions() -> None:
    """Wake workers for deletions of workspaces after a pause, a lost wake-up or a dead worker."""
    deletion.wake_stalled(timezone.now())
