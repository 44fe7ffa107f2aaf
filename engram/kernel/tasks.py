"""Periodic tasks of the kernel."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from engram.kernel import idempotency, job_queue, latency
from engram.kernel.due import due_workspaces, waiting_since
from engram.kernel.tenancy import in_workspace


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
