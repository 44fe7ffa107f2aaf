"""Answer prediction errors as a person does: one, or several at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import OuterRef, Subquery

from engram.kernel.actors import Actor
from engram.kernel.credentials import refuse_credentials
from engram.kernel.history import record_each
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import ErrorType, Note, NoteSupport, PredictionError, Resolution
from memories.services.causes import ERROR_RESOLVED
from memories.services.drift.resolve import RESOLVED

MOST_AT_ONCE = 500  # errors that one answer resolves
ANSWERS = {
    "still_true": Resolution.STILL_TRUE,
    "dismiss": Resolution.DISMISSED,
    "updated": Resolution.UPDATED,
}
BY_PERSON = (Resolution.STILL_TRUE, Resolution.DISMISSED)


@dataclass(frozen=True, slots=True)
class Answered:
    """The errors that an answer resolved, and those that it left as they were."""

    ids: tuple[UUID, ...]
    skipped: Mapping[UUID, str]  # error → how it was resolved before; "": it has changed


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
    resolution = _resolution_of(action)
    refuse_credentials({"note": note})
    with in_workspace(workspace):
        [error], supports = lock_errors([error_id])
        if error.resolved_at is not None and error.resolution == resolution:
            return error
        if error.resolved_at is not None:
            raise StaleError(
                f"This was resolved before: {error.get_resolution_display()}.",
                cause=ERROR_RESOLVED,
            )
        _resolve([error], supports, resolution, note=note, actor=actor, now=now)
        return error


def resolve_errors(
    workspace: Workspace,
    error_ids: Sequence[UUID],
    action: str,
    *,
    of_version: int | None = None,
    note: str = "",
    actor: Actor,
    now: datetime,
) -> Answered:
    """Apply one answer to several errors, as `resolve_error` does to one.

    What is resolved already is left as it is, and so is what is not about the version `of_version`
    of its note any more. Raise `MissingError` when one is unknown; nothing is answered then.
    """
    resolution = _resolution_of(action)
    refuse_credentials({"note": note})
    with in_workspace(workspace):
        errors, supports = lock_errors(error_ids)
        found, skipped = split_open(errors, of_version)
        _resolve(found, supports, resolution, note=note, actor=actor, now=now)
        return Answered(tuple(error.pk for error in found), skipped)


def split_open(
    errors: Sequence[PredictionError], of_version: int | None
) -> tuple[list[PredictionError], dict[UUID, str]]:
    """Return the errors that are open and about a version of their note, and why others are not."""
    found, skipped = [], {}
    for error in errors:
        is_other = of_version is not None and error.note_version != of_version
        if error.resolved_at is not None or is_other:
            skipped[error.pk] = error.resolution
        else:
            found.append(error)
    return found, skipped


def _resolution_of(action: str) -> Resolution:
    if action not in ANSWERS:
        raise InvalidError("action", "Choose still_true, dismiss or updated.")
    return ANSWERS[action]


def lock_errors(
    error_ids: Sequence[UUID],
) -> tuple[list[PredictionError], dict[tuple[UUID, UUID], NoteSupport]]:
    """Lock errors, and before them what their memories lean on, in the order of checks.

    Return the errors in the order of their ids, and the supports by memory and note. Raise
    `MissingError` when one is unknown.
    """
    wanted = set(error_ids)
    rows = PredictionError.objects.filter(pk__in=wanted).order_by()
    pairs = {(memory, note) for memory, note in rows.values_list("memory", "note") if note}
    leaning = NoteSupport.objects.select_for_update().filter(
        memory__in={memory for memory, _ in pairs if memory}, note__in={note for _, note in pairs}
    )
    supports = {
        (row.memory_id, row.note_id): row
        for row in leaning.only("pk", "memory", "note").order_by("memory_id", "note_id")
    }
    held = PredictionError.objects.select_for_update(of=("self",)).select_related("memory")
    errors = list(held.filter(pk__in=wanted).order_by("pk"))
    if len(errors) < len(wanted):
        raise MissingError("There is no such prediction error.")
    return errors, {pair: row for pair, row in supports.items() if pair in pairs}


def _resolve(
    errors: Sequence[PredictionError],
    supports: Mapping[tuple[UUID, UUID], NoteSupport],
    resolution: Resolution,
    *,
    note: str,
    actor: Actor,
    now: datetime,
) -> None:
    """Resolve locked open errors; the number of statements does not depend on theirs."""
    changed = {
        "resolved_at": now, "resolution": resolution, "resolved_by": actor.label,
        "resolution_note": note,
    }  # fmt: skip
    PredictionError.objects.filter(pk__in=[error.pk for error in errors]).update(**changed)
    for error in errors:
        for name, value in changed.items():
            setattr(error, name, value)
    if resolution in BY_PERSON:
        accept(errors, supports)
    record_each(
        RESOLVED,
        (
            (error.pk, {"error_type": error.error_type, "resolution": resolution.value})
            for error in errors
        ),
        of="prediction_error",
        actor=actor,
        now=now,
    )


def accept(
    errors: Sequence[PredictionError], supports: Mapping[tuple[UUID, UUID], NoteSupport]
) -> None:
    """Remember that memories agree with the present version of a note.

    What they lean on stays: another text in this place is drift again, this one is not.
    """
    drift = {(e.memory_id, e.note_id) for e in errors if e.error_type == ErrorType.MEMORY_DRIFT}
    found = [row.pk for pair, row in supports.items() if pair in drift]
    version = Note.objects.filter(pk=OuterRef("note")).values("version")
    NoteSupport.objects.filter(pk__in=found).update(
        still_true_version=Subquery(version), is_drifted=False
    )
