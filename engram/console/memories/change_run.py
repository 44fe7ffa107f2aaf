"""Do changes of many memories in the background, some at a time; safe to kill at any point."""

from __future__ import annotations

import logging
from time import monotonic
from traceback import format_tb
from typing import Final
from uuid import UUID

from engram.console.memories.change_batch import change_batch
from engram.console.memories.changes import KIND, progress_of
from engram.console.models import ItemStatus, MemoryChange
from engram.kernel import job_queue
from engram.kernel.actors import Actor
from engram.kernel.collisions import retry_on_collision
from engram.kernel.job_queue import Clock
from engram.kernel.lease import TakenOverError
from engram.kernel.models import Job, Role, Workspace
from engram.kernel.tenancy import in_workspace

log = logging.getLogger(__name__)

BATCH: Final = 25  # memories of one transaction, whose locks others wait for
FAILED: Final = "It failed; the log of the worker says where."
NO_REVIEWER: Final = "Who asked for this is no reviewer any more."


def change_turn(workspace_id: UUID, *, clock: Clock, seconds: float) -> bool:
    """Go on with the change that has been due longest, for about `seconds`; return if it ended."""
    workspace = Workspace.objects.filter(pk=workspace_id).first()
    job = None if workspace is None else job_queue.acquire(workspace, KIND, clock())
    if workspace is None or job is None:
        return False
    try:
        with job_queue.working(job, clock):
            is_over = _work(workspace, job, clock=clock, until=monotonic() + seconds)
    except TakenOverError:
        return False
    except Exception as error:  # noqa: BLE001  whatever it was, the job stays due
        # Messages of exceptions may quote memories: the log has the type and the places.
        kind, places = type(error).__name__, "".join(format_tb(error.__traceback__))
        log.error("change %s failed: %s\n%s", job.id, kind, places)
        job_queue.put_off(job, FAILED, now=clock())
        return False
    if is_over:  # others may wait; a job that is handed over has woken a worker itself
        job_queue.wake_workers(KIND, workspace.pk)
    return is_over


def _work(workspace: Workspace, job: Job, *, clock: Clock, until: float) -> bool:
    with in_workspace(workspace):
        actor = job_queue.requester_of(job, clock())
        change = MemoryChange.objects.get(pk=job.pk)
    if actor is None or not actor.role.includes(Role.REVIEWER):
        job_queue.fail(job, NO_REVIEWER, now=clock())
        return True
    while _do_some(workspace, job, change, actor, clock=clock):
        if monotonic() > until:
            job_queue.hand_over(job, now=clock())
            return False
    job_queue.finish(job, {}, now=clock())
    return True


@retry_on_collision
def _do_some(
    workspace: Workspace, job: Job, change: MemoryChange, actor: Actor, *, clock: Clock
) -> bool:
    """Change the next memories and note it, in one transaction; return whether there were any."""
    with in_workspace(workspace):
        items = list(change.items.filter(status=ItemStatus.WAITING).order_by("id")[:BATCH])
        if not items:
            return False
        change_batch(workspace, change, items, actor, clock=clock)
        job_queue.note_progress(job, progress_of(change).share, is_kept=True, now=clock())
        return True
