"""Do extraction jobs, one after the other; safe to kill at any point."""

from __future__ import annotations

import logging
from datetime import datetime
from time import monotonic
from traceback import format_tb
from typing import Never
from uuid import UUID

from engram.kernel import job_queue, telemetry
from engram.kernel.embedding import EmbeddingUnavailableError
from engram.kernel.job_queue import Clock
from engram.kernel.jobs import wake
from engram.kernel.lease import TakenOverError
from engram.kernel.models import Job, Workspace
from engram.kernel.refusals import RefusalError
from engram.kernel.tenancy import in_workspace
from memories.core.extraction.describing import DESCRIBED, Advance, Describing, unwatched
from memories.core.extraction.extract import extract_from
from memories.models import Extraction
from memories.services.extraction import ask_model
from memories.services.extraction.queue import KIND
from memories.services.extraction.write import TranscriptReading, write_reading

log = logging.getLogger(__name__)

BY_MODEL_TASK = "memories.extract_by_model"
STAGE = "extract"
_STEP = 0.05


def extract_turn(workspace_id: UUID, *, clock: Clock, seconds: float, may_ask: bool) -> int:
    """Do the due extractions of a workspace for about `seconds`, a part of one at least.

    A transcript that takes longer is handed over, and goes on behind those that wait. Return how
    many ended. A worker that may not call a model wakes one that may. While texts cannot
    be embedded, or the model cannot be reached, the turn ends: the sweep wakes another.
    """
    workspace = Workspace.objects.filter(pk=workspace_id).first()
    if workspace is None:
        return 0
    if ask_model.is_by_model(workspace) and not may_ask:
        wake(BY_MODEL_TASK, workspace.pk)
        return 0
    tried, ended, until = 0, 0, monotonic() + seconds
    while not tried or monotonic() < until:
        job = job_queue.acquire(workspace, KIND, clock())
        if job is None:
            return ended
        tried += 1
        try:
            ended += _do(workspace, job, clock=clock, until=until)
        except (OutageError, HandedOverError):  # who hands over has woken a worker
            return ended
    job_queue.wake_workers(KIND, workspace.pk)
    return ended


class OutageError(Exception):
    """The job was put off for what would stop the next one, too."""


class HandedOverError(Exception):
    """The job takes longer than a turn, and waits for the next one."""


def _do(workspace: Workspace, job: Job, *, clock: Clock, until: float) -> bool:
    """Do one job; return whether it ended.

    Raise `OutageError` when it was put off because texts cannot be embedded, or the model cannot be
    reached; `HandedOverError` when the time was over before.
    """
    try:
        with telemetry.timed(STAGE, workspace), job_queue.working(job, clock):
            _extract(workspace, job, clock=clock, until=until)
    except TakenOverError:
        return False
    except HandedOverError:
        raise
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


def _extract(workspace: Workspace, job: Job, *, clock: Clock, until: float) -> None:
    with in_workspace(workspace):
        extraction = Extraction.objects.get(pk=job.pk)
        actor = job_queue.requester_of(job, clock())
    if actor is None:
        job_queue.fail(job, job_queue.NO_CALLER, now=clock())
        return
    progress = _Progress(job, clock)
    progress.note(0.1)
    if ask_model.is_by_model(workspace) and extraction.transcript.strip():
        reading = ask_model.read_by_model(
            workspace, job, extraction.transcript, agent=extraction.agent, clock=clock
        )
    else:
        describing = Describing(extraction.transcript, extraction.agent, extraction.described)
        while describing.go_on():
            progress(DESCRIBED * describing.share)
            if monotonic() > until:
                _hand_over(workspace, job, extraction, describing, now=clock())
        reading = read_by_rules(describing, advance=progress)
    job_queue.note_progress(job, 0.8, now=clock())
    write_reading(workspace, job, extraction, reading, actor=actor, now=clock())


def _hand_over(
    workspace: Workspace, job: Job, extraction: Extraction, describing: Describing, *, now: datetime
) -> Never:
    """Keep what is described, where the transcript was not erased, and queue the job again."""
    with in_workspace(workspace):
        as_read = Extraction.objects.filter(pk=extraction.pk, transcript=describing.transcript)
        as_read.exclude(transcript="").update(described=describing.store())
        job_queue.hand_over(job, now=now)
    raise HandedOverError


class _Progress:
    """Notes how far a transcript is read, in steps of a twentieth of the job."""

    def __init__(self, job: Job, clock: Clock) -> None:
        self._job, self._clock, self._told = job, clock, job.progress

    def __call__(self, share: float) -> None:
        progress = 0.1 + 0.7 * share
        if progress - self._told >= _STEP:
            self.note(progress)

    def note(self, progress: float) -> None:
        """Store the progress, and never less than was told in a turn before."""
        self._told = max(self._told, progress)
        job_queue.note_progress(self._job, self._told, now=self._clock())


def read_by_rules(describing: Describing, *, advance: Advance = unwatched) -> TranscriptReading:
    """Read a transcript without a model."""
    found = extract_from(describing, advance=advance)
    return TranscriptReading(describing.transcript, found.kept, found.refused)


def _note_failure(workspace: Workspace, kind: str, now: datetime) -> None:
    is_outage = kind == EmbeddingUnavailableError.__name__
    with in_workspace(workspace):
        telemetry.record_error(
            "embedding" if is_outage else STAGE,
            "embedding_unavailable" if is_outage else "extract_failed",
            detail=workspace.embedding_model if is_outage else kind,
            now=now,
        )
