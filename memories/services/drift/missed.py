"""Report the drift that answers left out because another transaction had locked its rows.

An answer never waits for a lock (`report.py`), and no check follows where the lock was held for
something else, such as counting recalls. A sweep looks at what has drifted without an error.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import ErrorType, NoteSupport, PredictionError
from memories.services.drift.report import report_served


def unreported() -> QuerySet[NoteSupport]:
    """Return drifted supports without an open error, or a resolved one since the note was written.

    Of most of them nobody was given the memory: `report_missed` leaves those out.
    """
    says_so = PredictionError.objects.filter(
        Q(resolved_at=None) | Q(last_seen_at__gte=OuterRef("note__updated_at")),
        error_type=ErrorType.MEMORY_DRIFT,
        memory=OuterRef("memory"),
        note=OuterRef("note"),
    )
    return NoteSupport.objects.filter(
        ~Exists(says_so), is_drifted=True, due_at=None, checked_at__isnull=False
    )


def report_missed(workspace: Workspace, *, now: datetime) -> None:
    """Open an error for each of these whose memory was given since memory and note are as now."""
    with in_workspace(workspace):
        supports = list(unreported().order_by().values_list("pk", flat=True))
    report_served(workspace, supports, now=now)
