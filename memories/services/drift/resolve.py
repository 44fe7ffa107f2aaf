"""Resolve prediction errors: by a person's answer, or because what they are about has changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.credentials import refuse_credentials
from engram.kernel.history import record, record_unsent
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.drift.pointers import PROMOTED
from memories.models import (
    ErrorType,
    MemoryTag,
    Note,
    NoteLink,
    NoteSupport,
    PredictionError,
    Resolution,
)
from memories.services.causes import ERROR_RESOLVED

CHECK_TASK = "memories.check_notes"
RESOLVED = "prediction_error.resolved"
ANSWERS = {
    "still_true": Resolution.STILL_TRUE,
    "dismiss": Resolution.DISMISSED,
    "updated": Resolution.UPDATED,
}
BY_PERSON = (Resolution.STILL_TRUE, Resolution.DISMISSED)


def resolve_error(
    workspace: Workspace,
    error_id: UUID,
    action: str,
    *,
    note: str = "",
    actor: Actor,
    now: datetime,
) -> PredictionError:
    """Apply a person's answer to an open error; the same answer again changes nothing.

    "still_true" and "dismiss" hold for what the note says now: another text in its place is drift
    again. Raise `StaleError` for an error that is resolved otherwise.
    """
    if action not in ANSWERS:
        raise InvalidError("action", "Choose still_true, dismiss or updated.")
    refuse_credentials({"note": note})
    with in_workspace(workspace):
        error = lock_error(error_id)
        resolution = ANSWERS[action]
        if error.resolved_at is not None and error.resolution == resolution:
            return error
        if error.resolved_at is not None:
            raise StaleError(
                f"This was resolved before: {error.get_resolution_display()}.",
                cause=ERROR_RESOLVED,
            )
        error.resolved_at, error.resolution = now, resolution
        error.resolved_by, error.resolution_note = actor.label, note
        error.save(update_fields=["resolved_at", "resolution", "resolved_by", "resolution_note"])
        if error.error_type == ErrorType.MEMORY_DRIFT and resolution in BY_PERSON:
            _accept(error)
        record(
            RESOLVED,
            of=("prediction_error", error.pk),
            actor=actor,
            now=now,
            data={"error_type": error.error_type, "resolution": resolution.value},
        )
        return error


def lock_error(error_id: UUID) -> PredictionError:
    """Lock an error, and before it what its memory leans on, in the order of checks."""
    found = PredictionError.objects.filter(pk=error_id).values_list("memory", "note").first()
    if found is None:
        raise MissingError("There is no such prediction error.")
    memory_id, note_id = found
    if memory_id and note_id:
        list(NoteSupport.objects.select_for_update().filter(memory=memory_id, note=note_id))
    error = PredictionError.objects.select_for_update().filter(pk=error_id).first()
    if error is None:
        raise MissingError("There is no such prediction error.")
    return error


def _accept(error: PredictionError) -> None:
    """Remember that a memory agrees with the present version of a note.

    What it leans on stays: another text in this place is drift again, this one is not.
    """
    if error.note_id is None:
        return
    version = Note.objects.filter(pk=error.note_id).values_list("version", flat=True).first()
    NoteSupport.objects.filter(memory=error.memory_id, note=error.note_id).update(
        still_true_version=version, is_drifted=False
    )


def resolve_updated(memory_ids: Collection[UUID], *, actor: Actor, now: datetime) -> None:
    """Resolve the errors of memories whose content was written anew."""
    _close(Q(memory__in=list(memory_ids)), Resolution.UPDATED, now, actor)


def resolve_unlinked(memory_ids: Collection[UUID], *, now: datetime) -> None:
    """Resolve the drift of memories from notes that their links do not lead to any more."""
    linked = NoteLink.objects.filter(memory=OuterRef("memory"), note=OuterRef("note"))
    drift = Q(error_type=ErrorType.MEMORY_DRIFT, memory__in=list(memory_ids))
    _close(drift & ~Q(Exists(linked)), Resolution.LINK_GONE, now)


def note_hidden(
    sender: Any, *, memory_ids: Sequence[UUID], actor: Actor, now: datetime, **_: Any
) -> None:
    """Resolve the errors of memories that were forgotten, or hidden for another reason."""
    mine = Q(memory__in=list(memory_ids))
    _close(mine & Q(memory__forgotten_at__isnull=False), Resolution.MEMORY_FORGOTTEN, now, actor)
    _close(mine, Resolution.MEMORY_HIDDEN, now, actor)


def resolve_of_note(note_id: UUID, *, actor: Actor, now: datetime) -> None:
    """Resolve the errors that name a note about to be deleted, and erase its text there."""
    list(NoteSupport.objects.select_for_update().filter(note=note_id).order_by("memory_id"))
    _close(Q(note=note_id), Resolution.NOTE_DELETED, now, actor)
    PredictionError.objects.filter(note=note_id).update(context={})


def resolve_drift(
    memory_ids: Collection[UUID], note_id: UUID, why: Resolution, *, now: datetime
) -> None:
    """Resolve the drift of memories from one note."""
    drift = Q(error_type=ErrorType.MEMORY_DRIFT, memory__in=list(memory_ids), note=note_id)
    _close(drift, why, now)


def drift_of_promoted() -> QuerySet[PredictionError]:
    """Return the open drift of memories that are tagged as pointers to their note."""
    tagged = MemoryTag.objects.filter(tag=PROMOTED, memory=OuterRef("memory"))
    return PredictionError.objects.filter(
        Exists(tagged), error_type=ErrorType.MEMORY_DRIFT, resolved_at=None
    )


def resolve_promoted(workspace: Workspace, *, now: datetime) -> None:
    """Resolve the drift of memories that were tagged as pointers after it was found."""
    with in_workspace(workspace):
        found = list(drift_of_promoted().order_by().values_list("pk", flat=True))
        _close(Q(pk__in=found), Resolution.PROMOTED, now)


def _close(which: Q, resolution: Resolution, now: datetime, actor: Actor = SYSTEM) -> None:
    """Resolve open errors because something else has changed; locked in one order, after supports.

    `actor` made that change.
    """
    found = PredictionError.objects.filter(which, resolved_at=None).order_by("pk")
    closed = list(found.select_for_update(of=("self",)).values_list("pk", flat=True))
    if not closed:
        return
    PredictionError.objects.filter(pk__in=closed).update(
        resolved_at=now, resolution=resolution, resolved_by=actor.label
    )
    record_unsent(
        RESOLVED,
        ((error_id, {"resolution": resolution.value}) for error_id in closed),
        of="prediction_error",
        actor=actor,
        now=now,
    )
