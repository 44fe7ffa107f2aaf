"""Queue the work that callers ask for, and do each job once: `Job` rows with a lease.

A job is queued in the transaction of its request, and `wake` sends its kind's task. A worker takes
the job that has been due longest, renews the lease while it works, and ends the job in the
transaction that writes its result. When it dies, the lease lapses and the sweep wakes another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import QuerySet

from engram.kernel import lease
from engram.kernel.actors import Actor
from engram.kernel.due import due_workspaces
from engram.kernel.jobs import wake
from engram.kernel.keys import actor_of
from engram.kernel.lease import TakenOverError, renewing
from engram.kernel.models import Job, JobStatus, Membership, Role, Workspace
from engram.kernel.refusals import MissingError
from engram.kernel.signals import job_failing
from engram.kernel.tenancy import in_workspace

Clock = Callable[[], datetime]

ATTEMPTS_MAX: Final = 5  # of a job whose worker failed or died
FIRST_PAUSE: Final = timedelta(seconds=20)
LONGEST_PAUSE: Final = timedelta(minutes=15)
LONGEST_REST: Final = timedelta(days=1)  # however long an endpoint asks to wait
KEPT_FOR: Final = timedelta(days=30)
GIVEN_UP: Final = "It failed too often."
NO_CALLER: Final = "The key or member that asked for this may not write any more."


def enqueue(kind: str, *, actor: Actor, now: datetime) -> Job:
    """Queue a job in the caller's transaction, and wake a worker after the commit."""
    job = Job.objects.create(
        kind=kind,
        caller=actor.caller,
        label=actor.label[:150],
        role=actor.role,
        key_id=actor.key_id,
        created_at=now,
        due_at=now,
    )
    wake_workers(kind, job.workspace_id)
    return job


def wake_workers(kind: str, workspace_id: UUID) -> None:
    """Send the task of a kind of job, after the commit."""
    wake(settings.ENGRAM_JOB_TASKS[kind], workspace_id)


def find(job_id: UUID, *, actor: Actor) -> Job:
    """Return a job that the caller asked for; reviewers may see every job."""
    job = Job.objects.filter(pk=job_id).first()
    if job is None or (job.caller != actor.caller and not actor.is_reviewer):
        raise MissingError("There is no such job.")
    return job


def requester_of(job: Job, now: datetime) -> Actor | None:
    """Return who asked for a job, as what they may do now; None when they may not write any more.

    Called in the job's workspace.
    """
    actor: Actor | None = None
    if job.key is not None:
        expires = job.key.expires_at
        if job.key.revoked_at is None and (expires is None or expires > now):
            actor = actor_of(job.key)
    elif job.caller.startswith("user:"):
        actor = _member(job)
    elif job.caller.startswith("system:"):
        actor = Actor(kind="system", id="", label=job.label, role=Role(job.role))
    return actor if actor is not None and actor.role.includes(Role.AGENT) else None


def _member(job: Job) -> Actor | None:
    user_id = job.caller.removeprefix("user:")
    members = Membership.objects.filter(workspace_id=job.workspace_id, user__is_active=True)
    member = members.filter(user_id=user_id).first()
    if member is None:
        return None
    return Actor(kind="user", id=user_id, label=job.label, role=Role(member.role))


def select_due() -> QuerySet[Job]:
    """Return the jobs that have not ended."""
    return Job.objects.exclude(due_at=None)


def acquire(workspace: Workspace, kind: str, now: datetime) -> Job | None:
    """Take the job of a kind that has been due longest; fail those that were begun too often."""
    with in_workspace(workspace):
        while True:
            due = lease.stalled(select_due().filter(kind=kind), now)
            job = due.select_related("key").first()
            if job is None:
                return None
            holder = uuid4()
            if not lease.acquire(Job.objects.filter(pk=job.pk), holder, now):
                return None
            job.holder = holder
            if job.attempts < ATTEMPTS_MAX:
                job.status, job.attempts = JobStatus.RUNNING, job.attempts + 1
                job.started_at = job.started_at or now
                job.save(update_fields=["status", "attempts", "started_at"])
                return job
            fail(job, job.error or GIVEN_UP, now=now)


@contextmanager
def working(job: Job, clock: Clock) -> Iterator[None]:
    """Renew a job's lease while the block runs."""

    def renew() -> None:
        with in_workspace(job.workspace_id):
            lease.renew_or_raise(Job.objects.filter(pk=job.pk), _holder(job), clock())

    with renewing(renew):
        yield


def note_progress(job: Job, progress: float, *, is_kept: bool = False, now: datetime) -> None:
    """Store the progress (0..1) with a heartbeat; raise `TakenOverError` when the job is lost.

    Progress that `is_kept` is not lost when the job fails, so failures before it count no more.
    """
    job.attempts = 1 if is_kept else job.attempts
    with in_workspace(job.workspace_id):
        held = Job.objects.filter(pk=job.pk, holder=_holder(job))
        if not held.update(progress=progress, attempts=job.attempts, heartbeat_at=now):
            raise TakenOverError


def finish(job: Job, result: dict[str, Any], *, note: str = "", now: datetime) -> None:
    """End a job in the transaction that wrote its result.

    Raise `TakenOverError` when another worker has it by now: then nothing may be written.
    """
    _end(job, status=JobStatus.DONE, progress=1.0, result=result, error=note, now=now)


def fail(job: Job, error: str, *, now: datetime) -> None:
    """End a job without a result, for good, with what its kind does when a job fails."""
    with in_workspace(job.workspace_id):
        job_failing.send(Job, job=job, now=now)  # before the job's row: as who writes a result
        _end(job, status=JobStatus.FAILED, error=error[:300], now=now)


def put_off(job: Job, error: str, *, until: datetime | None = None, now: datetime) -> None:
    """Queue a job again for later; fail it after the last attempt."""
    if job.attempts >= ATTEMPTS_MAX:
        fail(job, error, now=now)
        return
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** max(job.attempts - 1, 0))
    later = min(max(until or now, now + pause), now + LONGEST_REST)
    with in_workspace(job.workspace_id):
        lease.release(
            Job.objects.filter(pk=job.pk),
            _holder(job),
            status=JobStatus.QUEUED,
            error=error[:300],
            due_at=later,
        )


def hand_over(job: Job, *, now: datetime) -> None:
    """Queue a job again that got on, so that others have their turn; that is no failed attempt."""
    with in_workspace(job.workspace_id):
        mine, rest = Job.objects.filter(pk=job.pk), max(job.attempts - 1, 0)
        changes = {"status": JobStatus.QUEUED, "attempts": rest, "due_at": now}
        if not lease.release(mine, _holder(job), **changes):
            raise TakenOverError
        wake_workers(job.kind, job.workspace_id)


def _end(job: Job, *, now: datetime, **changes: Any) -> None:
    with in_workspace(job.workspace_id):
        mine = Job.objects.filter(pk=job.pk)
        ended = {"due_at": None, "finished_at": now, **changes}
        if not lease.release(mine, _holder(job), **ended):
            raise TakenOverError


def _holder(job: Job) -> UUID:
    assert job.holder is not None  # noqa: S101  `acquire` has set it
    return job.holder


def wake_stalled(now: datetime) -> None:
    """Wake workers where jobs are due that nobody does."""
    for workspace in due_workspaces(lambda: lease.stalled(select_due(), now), "due_at"):
        with in_workspace(workspace):
            waiting = lease.stalled(select_due(), now).order_by()
            kinds = list(waiting.values_list("kind", flat=True).distinct())
        for kind in kinds:
            wake_workers(kind, workspace.pk)


def old_jobs(now: datetime) -> QuerySet[Job]:
    """Return the jobs that are kept no longer."""
    return Job.objects.filter(finished_at__lte=now - KEPT_FOR)


def drop_old(workspace: Workspace, *, now: datetime) -> int:
    """Delete the jobs that ended 30 days ago or earlier; return their number."""
    with in_workspace(workspace):
        return old_jobs(now).delete()[1].get(Job._meta.label, 0)
