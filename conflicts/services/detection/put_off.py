"""Put off what the model could not read: at the spend cap, after an outage or a failed run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from conflicts.models import Awaits, DetectionDue, DetectionRun, Narrative
from conflicts.services.detection import backlog
from engram.kernel import spend, telemetry
from engram.kernel.lease import TakenOverError
from engram.kernel.llm import ModelError, RejectedError, UnavailableError
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace

# A workspace at its cap tries again after this, or when the next day begins.
CAPPED_PAUSE = timedelta(hours=1)


def put_off_capped(workspace: Workspace, run: DetectionRun, *, now: datetime) -> None:
    """Close a run for which the day's cap has no room; its memories wait."""
    run.status, run.narrative, run.batches = "done", Narrative.CAPPED, 0
    until = min(spend.next_day(now), now + CAPPED_PAUSE)
    with in_workspace(workspace):
        backlog.put_off(run, until=until, has_failed=False)
        backlog.join_pause(now)


def longest_outage(errors: Sequence[ModelError]) -> ModelError:
    """Return the error with the longest pause before the next try."""
    away = [error for error in errors if isinstance(error, UnavailableError | RejectedError)]
    return max(away, key=_pause_of, default=errors[0])


def fail(
    workspace: Workspace,
    run: DetectionRun,
    due: Sequence[DetectionDue],
    error: Exception,
    *,
    now: datetime,
) -> None:
    """Close a failed run; outages and lost leases do not count as failures of its memories."""
    run.status, run.narrative = "failed", Narrative.FAILED
    run.error = str(error) if isinstance(error, ModelError) else type(error).__name__
    with in_workspace(workspace):
        code = "narrate_unavailable" if isinstance(error, UnavailableError) else "narrate_failed"
        telemetry.record_error("narrate", code, detail=run.error, now=now)
        if not isinstance(error, UnavailableError | RejectedError | TakenOverError):
            awaits = due[0].awaits  # of one tier
            backlog.note_failure([run.id], now=now, awaits=Awaits(awaits))
            return
        pause = max(backlog.pause(max(row.attempts for row in due)), _pause_of(error))
        backlog.put_off(run, until=now + pause, has_failed=True)
        backlog.join_pause(now)


def _pause_of(error: Exception) -> timedelta:
    seconds = getattr(error, "retry_after_seconds", None) or 0.0
    longest = backlog.LONGEST_ASKED_PAUSE
    return timedelta(seconds=min(seconds, longest.total_seconds()))
