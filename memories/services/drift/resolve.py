"""Resolve prediction errors because what they are about has changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.history import record_unsent
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.drift.pointers import PROMOTED
from memories.models import (
    ErrorType,
    MemoryTag,
    NoteLink,
    NoteSupport,
    PredictionError,
    Resolution,
)

CHECK_TASK = "memories.check_notes"
RESOLVED = "prediction_error.resolved"


def resolve_updated(memory_ids: Collection[UUID], *, actor: Actor, now: datetime) -> None:
    """Resolve the errors of memories whose content was written anew."""
    _close(Q(memory__in=list(memory_ids)), Resolution.UPDATED, now, actor)


def resolve_unlinked(memory_ids: Collection[UUID], *, now: datetime) -> None:
    """Resolve the drift of memories from notes that they do not link and lean on any more."""
    of = {"memory": OuterRef("memory"), "note": OuterRef("note")}
    kept = Q(Exists(NoteLink.objects.filter(**of))) | Q(Exists(NoteSupport.objects.filter(**of)))
    drift = Q(error_type=ErrorType.MEMORY_DRIFT, memory__in=list(memory_ids))
    _close(drift & ~kept, Resolution.LINK_GONE, now)


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


def open_tasks() -> QuerySet[PredictionError]:
    """Return the open errors that say of a task that no note is near."""
    return PredictionError.objects.filter(error_type=ErrorType.LOW_OVERLAP, resolved_at=None)


def resolve_near(which: Q, *, now: datetime) -> None:
    """Resolve that no note was near to these tasks: one is."""
    _close(which & Q(error_type=ErrorType.LOW_OVERLAP), Resolution.NOTE_NEAR, now)


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
