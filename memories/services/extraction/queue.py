"""Queue transcripts for extraction: a row first, then a wake-up."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from engram.kernel import job_queue
from engram.kernel.actors import Actor
from engram.kernel.credentials import refuse_credentials, without_credentials
from engram.kernel.history import record
from engram.kernel.models import Job, JobStatus, Workspace
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Extraction
from memories.models.extraction import WITHOUT_TRANSCRIPT
from memories.services.causes import EXTRACTION_OFF
from memories.services.sessions.access import demand_own_session, lock_session

KIND: Final = "extraction"


def queue_transcript(
    workspace: Workspace,
    transcript: str,
    *,
    session_key: str = "",
    project: str = "",
    scope: str = "",
    actor: Actor,
    now: datetime,
) -> Job:
    """Queue a transcript; a credential in it is replaced by a marker."""
    demand_is_on(workspace)
    refuse_credentials({"session_key": session_key, "project": project, "scope": scope})
    kept, _ = without_credentials(transcript)
    with in_workspace(workspace):
        return _queue(
            Extraction(
                transcript=kept, session_key=session_key, project=project, scope=scope,
                agent=actor.agent_name(""),
            ),
            actor=actor,
            now=now,
        )  # fmt: skip


def queue_of_session(workspace: Workspace, session_key: str, *, actor: Actor, now: datetime) -> Job:
    """Queue the transcript of an ended session; the same call again returns the same job.

    After a job that failed, the call queues another.
    """
    demand_is_on(workspace)
    with in_workspace(workspace):
        if not actor.is_reviewer:
            demand_own_session(session_key, actor)
        session = lock_session(session_key)  # two calls at a time queue one job
        of_session = Extraction.objects.filter(session_key=session_key, is_of_session=True)
        of_session = of_session.exclude(job__status=JobStatus.FAILED)
        known = of_session.select_related("job").order_by("job__created_at").first()
        if known is not None:
            return known.job
        if not session.transcript.strip():
            raise InvalidError("extract", "There is no transcript to extract from.")
        return _queue(
            Extraction(
                transcript=session.transcript, is_of_session=True, session_key=session_key,
                project=session.project, scope=session.scope, agent=session.agent,
            ),
            actor=actor,
            now=now,
        )  # fmt: skip


def demand_is_on(workspace: Workspace) -> None:
    """Raise `StaleError` when the workspace extracts nothing."""
    if not workspace.config.extraction_enabled:
        raise StaleError("This workspace extracts no memories.", cause=EXTRACTION_OFF)


def note_failing(sender: Any, *, job: Job, **_: Any) -> None:
    """Forget the transcript of a job that fails: nobody reads it any more."""
    Extraction.objects.filter(pk=job.pk).update(**WITHOUT_TRANSCRIPT)


def _queue(extraction: Extraction, *, actor: Actor, now: datetime) -> Job:
    job = job_queue.enqueue(KIND, actor=actor, now=now)
    extraction.job = job
    extraction.save(force_insert=True)
    record(
        "extraction.queued", of=("job", job.id), actor=actor, now=now,
        session_key=extraction.session_key, data={"chars": len(extraction.transcript)},
    )  # fmt: skip
    return job
