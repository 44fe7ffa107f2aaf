"""Reopen prediction errors: an answer is taken back, or a hidden memory is brought back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE, NOTHING_TO_UNDO
from engram.kernel.collisions import retry_on_collision
from engram.kernel.history import record_each
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import ErrorType, Memory, Note, NoteSupport, PredictionError, Resolution
from memories.services.causes import NOT_LIVE
from memories.services.drift.answer import BY_PERSON, lock_errors
from memories.services.drift.resolve import CHECK_TASK

REOPENED = "prediction_error.reopened"
_BY_HIDING = (Resolution.MEMORY_FORGOTTEN, Resolution.MEMORY_HIDDEN)
_FINDING = (
    "is_drifted", "checked_version", "checked_hash", "checked_at", "distance", "evidence",
    "verdict", "due_at", "attempts",
)  # fmt: skip
_OPEN_AGAIN = {"resolved_at": None, "resolution": "", "resolved_by": "", "resolution_note": ""}


@dataclass(frozen=True, slots=True)
class Reopened:
    """How many errors wait again, and how many were answered together with them and do not."""

    count: int
    left: int


def answered_together(error: PredictionError) -> QuerySet[PredictionError]:
    """Return the errors about one edit of a note that one answer resolved, with this one."""
    if error.note_id is None or error.resolved_at is None:
        return PredictionError.objects.filter(pk=error.pk)
    return PredictionError.objects.filter(
        error_type=error.error_type,
        note=error.note_id,
        note_version=error.note_version,
        resolution=error.resolution,
        resolved_at=error.resolved_at,
        resolved_by=error.resolved_by,
    )


@retry_on_collision
def reopen_answer(workspace: Workspace, error_id: UUID, *, actor: Actor, now: datetime) -> Reopened:
    """Undo a person's answer to an error, and to those that were answered together with it.

    Those that were found again since, and those of memories that are not recalled any more, stay as
    they are. Raise `StaleError` when that leaves none. A detection at the same moment may open the
    same error between look and update; the second attempt sees it.
    """
    with in_workspace(workspace):
        asked = PredictionError.objects.filter(pk=error_id).first()
        if asked is None:
            raise MissingError("There is no such prediction error.")
        together = [] if asked.resolved_at is None else answered_together(asked)
        errors, supports = lock_errors([asked.pk, *(error.pk for error in together)])
        answered = [error for error in errors if error.resolution in BY_PERSON]
        if not answered:
            raise StaleError(
                "Only “still true” and “dismiss” can be undone.", cause=NOTHING_TO_UNDO
            )
        found = _reopenable(answered, now)
        _reopen(found, actor=actor, now=now)
        pairs = {(error.memory_id, error.note_id) for error in found}
        again = [row.pk for pair, row in supports.items() if pair in pairs]
        if NoteSupport.objects.filter(pk__in=again).update(
            still_true_version=None, due_at=now, attempts=0
        ):
            wake(CHECK_TASK, workspace.pk)
        return Reopened(len(found), len(errors) - len(found))


def reopen_updated(error: PredictionError, *, actor: Actor, now: datetime) -> Reopened:
    """Open again what an update of a memory resolved, once the memory has its former wording.

    Within the caller's transaction, which holds the memory. A check of the former wording reads
    what it leans on from the present note, and would find no drift: where the note is as it was,
    the finding is written back instead. Raise `StaleError` when nothing can wait again.
    """
    together = PredictionError.objects.filter(
        memory=error.memory_id, resolution=Resolution.UPDATED, resolved_at=error.resolved_at
    )
    errors, supports = lock_errors(list(together.order_by().values_list("pk", flat=True)))
    found = _reopenable(errors, now)
    _reopen(found, actor=actor, now=now)
    _write_back(found, supports, now)
    return Reopened(len(found), len(errors) - len(found))


def _write_back(
    errors: Sequence[PredictionError],
    supports: Mapping[tuple[UUID, UUID], NoteSupport],
    now: datetime,
) -> None:
    """Write what errors tell of notes that have not changed since into the locked supports."""
    notes = Note.objects.filter(pk__in=[error.note_id for error in errors])
    versions = dict(notes.order_by().values_list("pk", "version"))
    memories = Memory.objects.filter(pk__in=[error.memory_id for error in errors])
    hashes = dict(memories.order_by().values_list("pk", "content_hash"))
    rows = []
    for error in errors:
        if error.error_type != ErrorType.MEMORY_DRIFT or not (error.memory_id and error.note_id):
            continue
        row = supports.get((error.memory_id, error.note_id))
        if row is None or versions.get(error.note_id) != error.note_version:
            continue
        row.is_drifted, row.checked_version = True, error.note_version
        row.checked_hash, row.checked_at = hashes[error.memory_id], now
        row.distance, row.evidence = error.cosine_distance, error.weight
        told = {name: value for name, value in error.context.items() if name != "origin"}
        row.verdict = told | {"severity": error.severity}
        row.due_at, row.attempts = None, 0
        rows.append(row)
    NoteSupport.objects.bulk_update(rows, _FINDING)


def _reopenable(errors: Sequence[PredictionError], now: datetime) -> list[PredictionError]:
    """Return the errors that can wait again; raise `StaleError` when there is none."""
    named = {error.memory_id for error in errors if error.memory_id}
    live = set(Memory.objects.recallable(now).filter(pk__in=named).values_list("pk", flat=True))
    living = [error for error in errors if error.memory_id is None or error.memory_id in live]
    if not living:
        raise StaleError("The memory is not recalled any more.", cause=NOT_LIVE)
    kind = ("error_type", "memory_id", "note_id", "source")
    same = PredictionError.objects.filter(
        Q(memory__in=named) | Q(memory=None, note__in=[error.note_id for error in errors]),
        resolved_at=None,
    )
    known = set(same.order_by().values_list(*kind))
    found = [e for e in living if tuple(getattr(e, name) for name in kind) not in known]
    if not found:
        raise StaleError("It was found again since, and is open.", cause=CHANGED_MEANWHILE)
    return found


def note_restored(
    sender: Any, *, memory_ids: Sequence[UUID], actor: Actor, now: datetime, **_: Any
) -> None:
    """Reopen the errors that were open when these memories were hidden.

    Of drift only what the memory still leans on; the check that is due then may resolve it.
    """
    closed = list(_closed_by_hiding(memory_ids, now).order_by().values_list("pk", flat=True))
    if closed:
        held = PredictionError.objects.select_for_update(of=("self",)).filter(pk__in=closed)
        _reopen(list(held.order_by("pk")), actor=actor, now=now)


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


def _reopen(errors: Sequence[PredictionError], *, actor: Actor, now: datetime) -> None:
    """Open locked errors again; the number of statements does not depend on theirs."""
    PredictionError.objects.filter(pk__in=[error.pk for error in errors]).update(**_OPEN_AGAIN)
    told = ((error.pk, {"error_type": error.error_type}) for error in errors)
    record_each(REOPENED, told, of="prediction_error", actor=actor, now=now)
