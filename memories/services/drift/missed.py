"""Report the drift that answers left out because another transaction had locked its rows.

An answer never waits for a lock (`report.py`), and no check follows where the lock was held for
something else, such as counting recalls. A sweep looks at what was given in the last hour and has
drifted without an error.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import (
    ErrorType,
    Memory,
    NoteSupport,
    PastResult,
    PredictionError,
    SessionCandidate,
    SessionPrompt,
)
from memories.services.drift.due import record_failure
from memories.services.drift.report import report_served

log = logging.getLogger(__name__)
LATELY: Final = timedelta(hours=1)  # far longer than a sweep is away


def unreported(now: datetime) -> QuerySet[NoteSupport]:
    """Return drifted supports without an error whose memory was given lately, or may have been.

    An error that was resolved counts where it was seen since the note was written.
    """
    says_so = PredictionError.objects.filter(
        Q(resolved_at=None) | Q(last_seen_at__gte=OuterRef("note__updated_at")),
        error_type=ErrorType.MEMORY_DRIFT,
        memory=OuterRef("memory"),
        note=OuterRef("note"),
    )
    return NoteSupport.objects.filter(
        ~Exists(says_so),
        _given_since(now - LATELY),
        memory__in=Memory.objects.recallable(now),
        is_drifted=True,
        checked_at__isnull=False,
    )


def _given_since(since: datetime) -> Q:
    """Return a condition on supports: their memory was given by whatever answers with memories."""
    past = PastResult.objects.filter(memory=OuterRef("memory"), at__gte=since)
    # Prompts are read by their session: no index finds them by memory.
    prompted = SessionPrompt.objects.filter(
        session=OuterRef("session"), at__gte=since, memory_ids__contains=[OuterRef("memory")]
    )
    in_sessions = SessionCandidate.objects.filter(
        Q(created_at__gte=since) | Q(Exists(prompted)), memory=OuterRef("memory")
    )
    recalled = Q(memory__last_recalled_at__gte=since)
    return recalled | Q(Exists(past)) | Q(Exists(in_sessions))


def report_missed(workspace: Workspace, *, now: datetime) -> None:
    """Open an error for each of these whose memory was given since memory and note are as now.

    Leaves out rows that are locked, and never raises, so that a sweep goes on.
    """
    if not workspace.config.drift_enabled:
        return
    try:
        with in_workspace(workspace):
            supports = list(unreported(now).order_by().values_list("pk", flat=True))
        report_served(workspace, supports, now=now, waits=False)
    except Exception as error:
        log.exception("reporting missed drift failed")
        record_failure(workspace, error, now)
