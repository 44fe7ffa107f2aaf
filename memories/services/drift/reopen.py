"""Reopen prediction errors: an answer is taken back, or a hidden memory is brought back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE, NOTHING_TO_UNDO
from engram.kernel.history import record
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import ErrorType, Memory, NoteSupport, PredictionError, Resolution
from memories.services.causes import NOT_LIVE
from memories.services.drift.resolve import BY_PERSON, CHECK_TASK, lock_error

REOPENED = "prediction_error.reopened"
_BY_HIDING = (Resolution.MEMORY_FORGOTTEN, Resolution.MEMORY_HIDDEN)
_OPEN_AGAIN = {"resolved_at": None, "resolution": "", "resolved_by": "", "resolution_note": ""}


def reopen_error(workspace: Workspace, error_id: UUID, *, actor: Actor, now: datetime) -> None:
    """Undo a person's answer, unless it is open again already or its memory has changed."""
    with in_workspace(workspace):
        error = lock_error(error_id)
        if error.resolution not in BY_PERSON:
            raise StaleError(
                "Only “still true” and “dismiss” can be taken back.", cause=NOTHING_TO_UNDO
            )
        if error.memory is not None and not _is_live(error.memory, now):
            raise StaleError("The memory is not recalled any more.", cause=NOT_LIVE)
        same = PredictionError.objects.filter(
            error_type=error.error_type, memory=error.memory_id, note=error.note_id,
            source=error.source, resolved_at=None,
        )  # fmt: skip
        if same.exists():
            raise StaleError("It was found again since, and is open.", cause=CHANGED_MEANWHILE)
        PredictionError.objects.filter(pk=error.pk).update(**_OPEN_AGAIN)
        supports = NoteSupport.objects.filter(memory=error.memory_id, note=error.note_id)
        if supports.update(still_true_version=None, due_at=now, attempts=0):
            wake(CHECK_TASK, workspace.pk)
        _record(error, actor, now)


def note_restored(
    sender: Any, *, memory_ids: Sequence[UUID], actor: Actor, now: datetime, **_: Any
) -> None:
    """Reopen the errors that were open when these memories were hidden.

    Of drift only what the memory still leans on; the check that is due then may resolve it.
    """
    closed = list(_closed_by_hiding(memory_ids, now).order_by().values_list("pk", flat=True))
    if not closed:
        return
    held = PredictionError.objects.select_for_update(of=("self",)).filter(pk__in=closed)
    found = list(held.order_by("pk"))
    PredictionError.objects.filter(pk__in=[error.pk for error in found]).update(**_OPEN_AGAIN)
    for error in found:
        _record(error, actor, now)


def _closed_by_hiding(memory_ids: Sequence[UUID], now: datetime) -> QuerySet[PredictionError]:
    """Return the last error of each kind about live memories, where hiding them resolved it."""
    live = Memory.objects.recallable(now).filter(pk__in=list(memory_ids))
    kind = ("error_type", "memory_id", "note_id", "source")
    last = PredictionError.objects.filter(memory__in=live).distinct(*kind)
    last = last.order_by(*kind, "-resolved_at", "-pk")  # an open one first
    leaning = NoteSupport.objects.filter(memory=OuterRef("memory"), note=OuterRef("note"))
    return PredictionError.objects.filter(
        Q(Exists(leaning)) | ~Q(error_type=ErrorType.MEMORY_DRIFT),
        pk__in=last.values("pk"),
        resolution__in=_BY_HIDING,
    )


def _record(error: PredictionError, actor: Actor, now: datetime) -> None:
    record(
        REOPENED,
        of=("prediction_error", error.pk),
        actor=actor,
        now=now,
        data={"error_type": error.error_type},
    )


def _is_live(memory: Memory, now: datetime) -> bool:
    return Memory.objects.recallable(now).filter(pk=memory.pk).exists()
