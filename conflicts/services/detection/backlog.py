"""The queue of due memories: what to read next, and retries of memories whose reading fails.

Each workspace has two leases, for the rules and for the model, which do not wait for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F, Max, Min, Q, QuerySet, Value
from django.db.models.functions import Greatest, Least

from conflicts.models import Awaits, DetectionDue, DetectionLease, DetectionRun
from conflicts.models.detection import ReadingLease
from engram.kernel import lease
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace

# A memory that fails when it is read by itself is tried so often, then it is set aside.
MAX_ATTEMPTS = 6
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=1)
# An endpoint may ask for more.
LONGEST_ASKED_PAUSE = timedelta(days=1)
ABANDONED = "WorkerStopped"
# The reasons of runs that ask the model.
NARRATIVE = "narrative"
ANSWERS = "answers"
REASONS = {Awaits.MODEL: NARRATIVE, Awaits.ANSWERS: ANSWERS}


def select_due(*awaits: Awaits) -> QuerySet[DetectionDue]:
    """Return the due rows of tiers (default: rules), without those that were set aside."""
    return DetectionDue.objects.filter(
        attempts__lt=MAX_ATTEMPTS, awaits__in=awaits or (Awaits.ALL,)
    )


def select_set_aside() -> QuerySet[DetectionDue]:
    """Return the rows that are not retried until their memory changes or is queued again."""
    return DetectionDue.objects.filter(attempts__gte=MAX_ATTEMPTS)


def next_due(most: int, now: datetime, awaits: Awaits = Awaits.ALL) -> list[DetectionDue]:
    """Return the rows to read next; failed ones come last, and in smaller groups."""
    ready = select_due(awaits).filter(Q(not_before=None) | Q(not_before__lte=now))
    ordered = ready.order_by(
        F("read_with").desc(nulls_first=True), "-is_first_in_line", "since", "pk"
    )
    first = ordered.first()
    if first is None:
        return []
    if first.read_with is None:
        return list(ordered.filter(read_with=None)[:most])
    return list(ordered.filter(read_with=first.read_with)[: min(most, first.read_with)])


def assign_run(due: Sequence[DetectionDue], run: DetectionRun) -> None:
    """Write down which run reads the rows, in case that it dies."""
    DetectionDue.objects.filter(pk__in=[row.pk for row in due]).update(run=run)


def leave(due: Sequence[DetectionDue], run: DetectionRun) -> None:
    """Give back rows that a run was to read and had no time for."""
    if due:
        DetectionDue.objects.filter(pk__in=[row.pk for row in due], run=run).update(run=None)


def delete_read(due: Sequence[DetectionDue]) -> None:
    """Delete the rows that were read; a memory that changed meanwhile keeps its row."""
    _select_unchanged(due).delete()


def queue_for_model(due: Sequence[DetectionDue], awaits: Awaits = Awaits.MODEL) -> int:
    """Queue the rows that the rules have read for the model; return their number."""
    return _select_unchanged(due).update(
        awaits=awaits, run=None, read_with=None, attempts=0, not_before=None
    )


def _select_unchanged(due: Sequence[DetectionDue]) -> QuerySet[DetectionDue]:
    """Return the rows that are still in the turn that was read."""
    of_turn: dict[int, list[int]] = {}
    for row in due:
        of_turn.setdefault(row.turn, []).append(row.pk)
    unchanged = Q(pk__in=[])
    for turn, rows in of_turn.items():
        unchanged |= Q(turn=turn, pk__in=rows)
    return DetectionDue.objects.filter(unchanged)


def put_off(run: DetectionRun, *, until: datetime, has_failed: bool) -> None:
    """Postpone the rows of a run that failed for another reason than its memories."""
    DetectionDue.objects.filter(run=run).exclude(awaits=Awaits.ALL).update(
        run=None,
        not_before=until,
        attempts=Least(F("attempts") + int(has_failed), Value(MAX_ATTEMPTS - 1)),
    )


def join_pause(now: datetime) -> datetime | None:
    """Postpone all rows that wait for the model to the end of its longest pause; return it."""
    of_model = select_due(Awaits.ANSWERS, Awaits.MODEL).filter(read_with=None)
    until: datetime | None = of_model.filter(not_before__gt=now).aggregate(at=Max("not_before"))[
        "at"
    ]
    if until is not None:
        of_model.filter(not_before=None).update(not_before=until)
    return until


def note_failure(run_ids: Sequence[UUID], *, now: datetime, awaits: Awaits = Awaits.ALL) -> None:
    """Halve the group in which the memories of failed runs are read; retry single ones less often.

    So a memory that cannot be read does not keep the others from being read.
    """
    for run_id in run_ids:
        read = DetectionDue.objects.select_for_update().filter(run=run_id, awaits=awaits)
        rows = list(read.order_by("pk"))
        for row in rows:
            row.run = None
            row.read_with = max(1, len(rows) // 2)
            if len(rows) == 1 or awaits != Awaits.ALL:
                row.not_before = now + pause(row.attempts)
            row.attempts += len(rows) == 1
        DetectionDue.objects.bulk_update(rows, ["run", "read_with", "not_before", "attempts"])


def pause(attempts: int) -> timedelta:
    """Return how long to wait after so many failures before this one."""
    longer: timedelta = FIRST_PAUSE * 2**attempts
    return min(longer, LONGEST_PAUSE)


def close_abandoned(workspace: Workspace, *, now: datetime, awaits: Awaits = Awaits.ALL) -> None:
    """Close the runs of dead workers; only the holder of the lease may call it."""
    with in_workspace(workspace):
        abandoned = DetectionRun.objects.filter(status="running")
        by_model = Q(reason__in=REASONS.values())
        own = ~by_model if awaits == Awaits.ALL else Q(reason=REASONS[awaits])
        abandoned = abandoned.filter(own)
        ids = list(abandoned.values_list("pk", flat=True))
        if ids:
            abandoned.filter(pk__in=ids).update(status="failed", error=ABANDONED)
            note_failure(ids, now=now, awaits=awaits)


def release(of: type[ReadingLease], workspace: Workspace, holder: UUID, now: datetime) -> bool:
    """Release a lease; return whether something is due now.

    The remaining rows are due from now on, so that the workspace comes last among those that wait.
    """
    with in_workspace(workspace):
        # Waits for commits that are writing due rows; the next statement sees them.
        held = of._default_manager.filter(workspace=workspace, holder=holder)
        if held.select_for_update().first() is None:
            return False
        earliest = select_due(*of.awaits).aggregate(at=Min(Greatest("since", "not_before")))["at"]
        lease.release(held, holder, due_at=earliest and max(earliest, now))
        return earliest is not None and earliest <= now


def stalled(now: datetime, limit: int, of: type[ReadingLease] = DetectionLease) -> list[UUID]:
    """Return the workspaces that wait without a living runner, the longest-waiting first."""
    waiting = lease.stalled(of._default_manager.all(), now)
    return list(waiting.values_list("workspace_id", flat=True)[:limit])
