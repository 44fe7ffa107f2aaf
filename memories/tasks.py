"""Celery tasks of memories: each calls one service."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from engram.kernel.due import due_workspaces
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from memories.services.commit import second_look
from memories.services.drift import check
from memories.services.drift.due import TASK as CHECK_TASK
from memories.services.drift.due import select_due as select_due_checks
from memories.services.drift.missed import report_missed, unreported
from memories.services.drift.resolve import drift_of_promoted, open_tasks, resolve_promoted
from memories.services.extraction import run as extraction
from memories.services.index import answers, entities, note_chunks, pending, reembed
from memories.services.index.pending import fill_tokens
from memories.services.index.search_index import EMBED_TASK, ensure_indexes_in_use
from memories.services.janitor import run
from memories.services.notes.missing import resolve_answered
from memories.services.recall import log
from memories.services.retention import apply as retention
from memories.services.sessions import end

EXTRACTION_SECONDS = 10.0  # then others are served; a job that is not done goes on behind them
JANITOR_TASK = "memories.janitor_run"
RETENTION_SECONDS = 10.0


@shared_task(name="memories.count_recalls")
def count_recalls() -> None:
    """Add recorded recalls to the counters."""
    log.sweep()


@shared_task(name="memories.embed_pending")
def embed_pending() -> None:
    """Embed memories and notes left by an outage, or written while the model changed."""
    now = timezone.now()
    for workspace in reembed.changed_lately(now):
        reembed.mark_stragglers(workspace, now=now)
    for workspace in due_workspaces(pending.select_due, "updated_at"):
        pending.embed_pending(workspace, seconds=pending.TURN_SECONDS)
    for workspace in due_workspaces(answers.select_due, "memory__updated_at"):
        answers.embed_questions(workspace, seconds=pending.TURN_SECONDS)
    for workspace in due_workspaces(note_chunks.select_due, "note__updated_at"):
        note_chunks.embed_pending(workspace, seconds=pending.TURN_SECONDS)
    ensure_indexes_in_use()
    for workspace in pending.without_tokens():
        while fill_tokens(workspace):
            pass


@shared_task(name="memories.read_entities")
def read_entities() -> None:
    """Read the entities of memories that are marked, some seconds for each workspace."""
    for workspace in due_workspaces(entities.select_due, "since"):
        entities.read_due(workspace, seconds=pending.TURN_SECONDS)


@shared_task(name=EMBED_TASK)
def embed_workspace(workspace_id: str, updated_at: str = "", memory_id: str = "") -> None:
    """Embed pending memories of one workspace for some seconds, after a position in the queue."""
    workspace = Workspace.objects.filter(pk=UUID(workspace_id)).first()
    if workspace is not None:
        after = (datetime.fromisoformat(updated_at), UUID(memory_id)) if memory_id else None
        pending.embed_pending(workspace, seconds=pending.TURN_SECONDS, after=after)


@shared_task(name=note_chunks.TASK)
def embed_notes(workspace_id: str, after: str = "0") -> None:
    """Embed waiting passages of notes of one workspace for some seconds, after a passage."""
    workspace = Workspace.objects.filter(pk=UUID(workspace_id)).first()
    if workspace is not None:
        note_chunks.embed_pending(workspace, seconds=pending.TURN_SECONDS, after=int(after))


@shared_task(name=second_look.TASK)
def look_again(workspace_id: str) -> None:
    """Take the second look at due memories of one workspace."""
    workspace = Workspace.objects.filter(pk=UUID(workspace_id)).first()
    if workspace is not None:
        second_look.look_at_due(workspace, now=timezone.now())


@shared_task(name="memories.sweep_second_looks")
def sweep_second_looks() -> None:
    """Take the second look in all workspaces that have due memories."""
    for workspace in due_workspaces(second_look.select_due, "updated_at"):
        second_look.look_at_due(workspace, now=timezone.now())


@shared_task(name=CHECK_TASK)
def check_notes(workspace_id: str) -> None:
    """Compare due memories of one workspace with the notes that they link."""
    workspace = Workspace.objects.filter(pk=UUID(workspace_id)).first()
    if workspace is not None:
        check.check_due(workspace, now=timezone.now())


@shared_task(name="memories.sweep_notes")
def sweep_notes() -> None:
    """Compare due memories with their notes; report what answers left out; resolve what is settled.

    Settled by other changes are the drift of what became a pointer, and tasks that a note is near
    to now.
    """
    now = timezone.now()
    for workspace in due_workspaces(lambda: select_due_checks().filter(due_at__lte=now), "due_at"):
        check.check_due(workspace, now=now)
    for workspace in due_workspaces(drift_of_promoted, "detected_at"):
        resolve_promoted(workspace, now=now)
    for workspace in due_workspaces(open_tasks, "detected_at"):
        resolve_answered(workspace, now=now)
    for workspace in due_workspaces(lambda: unreported(now), "checked_at"):
        report_missed(workspace, now=now)


@shared_task(name="memories.janitor")
def wake_janitor() -> None:
    """Start the weekly janitor run of every workspace where it is due."""
    for workspace_id in run.due_workspaces(timezone.now()):
        wake(JANITOR_TASK, workspace_id)


@shared_task(name=JANITOR_TASK)
def run_janitor(workspace_id: str) -> None:
    """Run the janitor in one workspace, if the weekly run is still due."""
    workspace = Workspace.objects.filter(pk=UUID(workspace_id)).first()
    if workspace is not None:
        run.run_when_due(workspace, now=timezone.now())


@shared_task(name="memories.close_idle_sessions")
def close_idle_sessions() -> None:
    """End sessions without activity for 24 hours."""
    now = timezone.now()
    for workspace in due_workspaces(lambda: end.idle_sessions(now), "started_at"):
        end.close_idle(workspace, now=now)


@shared_task(name="memories.extract")
def extract_workspace(workspace_id: str) -> None:
    """Do the due extractions of a workspace without a language model."""
    extraction.extract_turn(
        UUID(workspace_id), clock=timezone.now, seconds=EXTRACTION_SECONDS, may_ask=False
    )


@shared_task(name=extraction.BY_MODEL_TASK)
def extract_workspace_by_model(workspace_id: str) -> None:
    """Do the due extractions of a workspace by a language model."""
    extraction.extract_turn(
        UUID(workspace_id), clock=timezone.now, seconds=EXTRACTION_SECONDS, may_ask=True
    )


@shared_task(name="memories.sweep_retention")
def wake_retention() -> None:
    """Wake workers for the workspaces that have something to delete by age."""
    for workspace in retention.due_workspaces(timezone.now()):
        wake(retention.TASK, workspace.pk)


@shared_task(name=retention.TASK)
def apply_retention(workspace_id: str) -> None:
    """Delete what one workspace keeps no longer, for some seconds."""
    workspace = Workspace.objects.filter(pk=UUID(workspace_id)).first()
    if workspace is None:
        return
    if not retention.apply_retention(workspace, now=timezone.now(), seconds=RETENTION_SECONDS):
        wake(retention.TASK, workspace.pk)
