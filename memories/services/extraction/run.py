"""Do extraction jobs, one after the other; safe to kill at any point."""

from __future__ import annotations

import logging
from datetime import datetime
from time import monotonic
from traceback import format_tb
from uuid import UUID

from engram.kernel import job_queue, telemetry
from engram.kernel.embedding import EmbeddingUnavailableError
from engram.kernel.job_queue import Clock
from engram.kernel.jobs import wake
from engram.kernel.lease import TakenOverError
from engram.kernel.models import Job, Workspace
from engram.kernel.refusals import RefusalError
from engram.kernel.tenancy import in_workspace
from memories.core.extraction.extract import Advance, extract, unwatched
from memories.models import Extraction
from memories.services.extraction import ask_model
from memories.services.extraction.queue import KIND
from memories.services.extraction.write import TranscriptReading, write_reading

log = logging.getLogger(__name__)

BY_MODEL_TASK = "memories.extract_by_model"
STAGE = "extract"
_STEP = 0.05


def extract_turn(workspace_id: UUID, *, clock: Clock, seconds: float, may_ask: bool) -> int:
    """Do the due extractions of a workspace for about `seconds`, one at least.

    Return how many ended. A worker that may not call a model wakes one that may. While texts cannot
    be embedded, or the model cannot be reached, the turn ends: the sweep wakes another.
    """
    workspace = Workspace.objects.filter(pk=workspace_id).first()
    if workspace is None:
        return 0
    if ask_model.is_by_model(workspace) and not may_ask:
        wake(BY_MODEL_TASK, workspace.pk)
        return 0
    tried, ended, started = 0, 0, monotonic()
    while not tried or monotonic() - started < seconds:
        job = job_queue.acquire(workspace, KIND, clock())
        if job is None:
            return ended
        tried += 1
        try:
            ended += _do(workspace, job, clock=clock)
        except OutageError:
            return ended
    job_queue.wake_workers(KIND, workspace.pk)
    return ended


class OutageError(Exception):
    """The job was put off for what would stop the next one, too."""


def _do(workspace: Workspace, job: Job, *, clock: Clock) -> bool:
    """Do one job; return whether it ended.

    Raise `OutageError` when it was put off because texts cannot be embedded, or the model cannot be
    reached.
    """
    try:
        with telemetry.timed(STAGE, workspace), job_queue.working(job, clock):
            _extract(workspace, job, clock=clock)
    except TakenOverError:
        return False
    except ask_model.LaterError as later:
        job_queue.put_off(job, str(later), until=later.until, now=clock())
        if later.is_outage:
            raise OutageError from None
        return False
    except RefusalError as error:  # the request itself, now: nobody can do it later
        job_queue.fail(job, error.cause.title, now=clock())
        return True
    except Exception as error:  # noqa: BLE001  whatever it was, the job stays due
        # Messages of exceptions may quote the transcript: the log has the places, the row the type.
        kind, places = type(error).__name__, "".join(format_tb(error.__traceback__))
        log.error("extraction %s failed: %s\n%s", job.id, kind, places)
        _note_failure(workspace, kind, clock())
        job_queue.put_off(job, kind, now=clock())
        if isinstance(error, EmbeddingUnavailableError):
            raise OutageError from None
        return False
    return True


def _extract(workspace: Workspace, job: Job, *, clock: Clock) -> None:
    with in_workspace(workspace):
        extraction = Extraction.objects.get(pk=job.pk)
        actor = job_queue.requester_of(job, clock())
        transcript = extraction.transcript
    if actor is None:
        job_queue.fail(job, job_queue.NO_CALLER, now=clock())
        return
    job_queue.note_progress(job, 0.1, now=clock())
    if ask_model.is_by_model(workspace) and transcript.strip():
        reading = ask_model.read_by_model(
            workspace, job, transcript, agent=extraction.agent, clock=clock
        )
    else:
        advance = _Progress(job, clock)
        reading = read_by_rules(transcript, agent=extraction.agent, advance=advance)
    job_queue.note_progress(job, 0.8, now=clock())
    write_reading(workspace, job, extraction, reading, actor=actor, now=clock())


class _Progress:
    """Notes how far a transcript is read, in steps of a twentieth of the job."""

    def __init__(self, job: Job, clock: Clock) -> None:
        self._job, self._clock, self._told = job, clock, 0.1

    def __call__(self, share: float) -> None:
        progress = 0.1 + 0.7 * share
        if progress - self._told >= _STEP:
            job_queue.note_progress(self._job, progress, now=self._clock())
            self._told = progress


def read_by_rules(
    transcript: str, *, agent: str = "", note: str = "", advance: Advance = unwatched
) -> TranscriptReading:
    """Read a transcript of an agent without a model; `note` says why one did not."""
    found = extract(transcript, agent=agent, advance=advance)
    return TranscriptReading(transcript, found.kept, found.refused, note=note)


def _note_failure(workspace: Workspace, kind: str, now: datetime) -> None:
    is_outage = kind == EmbeddingUnavailableError.__name__
    with in_workspace(workspace):
        telemetry.record_error(
            "embedding" if is_outage else STAGE,
            "embedding_unavailable" if is_outage else "extract_failed",
            detail=workspace.embedding_model if is_outage else kind,
            now=now,
        )
