"""What is still to be read, and what becomes of memories whose reading fails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F, Q, QuerySet

from conflicts.models import DetectionDue, DetectionRun
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace

# A memory that fails when it is read by itself is tried so often, then it is set aside.
MAX_ATTEMPTS = 6
FIRST_PAUSE = timedelta(seconds=30)
ABANDONED = "WorkerStopped"


def awaited() -> QuerySet[DetectionDue]:
    """Return what is to be read, now or later: all but what was set aside."""
    return DetectionDue.objects.filter(attempts__lt=MAX_ATTEMPTS)


def set_aside() -> QuerySet[DetectionDue]:
    """Return what is not tried any more until its memory changes or somebody asks."""
    return DetectionDue.objects.filter(attempts__gte=MAX_ATTEMPTS)


def take(most: int, now: datetime) -> list[DetectionDue]:
    """Return what to read next; what failed comes last, and together with fewer others."""
    ready = awaited().filter(Q(not_before=None) | Q(not_before__lte=now))
    ordered = ready.order_by(
        F("read_with").desc(nulls_first=True), "-is_first_in_line", "since", "pk"
    )
    first = ordered.first()
    if first is None:
        return []
    if first.read_with is None:
        return list(ordered.filter(read_with=None)[:most])
    return list(ordered.filter(read_with=first.read_with)[: min(most, first.read_with)])


def mark(due: Sequence[DetectionDue], run: DetectionRun) -> None:
    """Write down which run reads the rows, in case that it dies."""
    DetectionDue.objects.filter(pk__in=[row.pk for row in due]).update(run=run)


def take_away(due: Sequence[DetectionDue]) -> None:
    """Remove what was read; a memory that changed again while it was read keeps its row."""
    for row in due:
        DetectionDue.objects.filter(pk=row.pk, turn=row.turn).delete()


def note_failure(run_ids: Sequence[UUID], *, now: datetime) -> None:
    """Let the memories of failed runs be read in half the company, at last alone and less often.

    So that one memory that cannot be read does not keep the others from being read.
    """
    for run_id in run_ids:
        rows = list(DetectionDue.objects.select_for_update().filter(run=run_id).order_by("pk"))
        for row in rows:
            row.run = None
            row.read_with = max(1, len(rows) // 2)
            if len(rows) == 1:
                row.not_before = now + FIRST_PAUSE * 2**row.attempts
                row.attempts += 1
        DetectionDue.objects.bulk_update(rows, ["run", "read_with", "not_before", "attempts"])


def close_abandoned(workspace: Workspace, *, now: datetime) -> None:
    """Close the runs of workers that died; only the holder of the lease may say so."""
    with in_workspace(workspace):
        abandoned = DetectionRun.objects.filter(status="running")
        ids = list(abandoned.values_list("pk", flat=True))
        if ids:
            abandoned.filter(pk__in=ids).update(status="failed", error=ABANDONED)
            note_failure(ids, now=now)
