"""Group open drift by the edit of a note that caused it: one note, one version of it."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Case, CharField, Exists, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Cast, Coalesce, Concat

from memories.models import ErrorType, Memory, PredictionError
from memories.services.drift.find import confirmed

# Drift of one version of a note has one value, any other error one of its own.
_EDIT = Case(
    When(
        Q(error_type=ErrorType.MEMORY_DRIFT, note__isnull=False),
        then=Concat(
            Cast("note_id", CharField()),
            Value(":"),
            Cast(Coalesce("note_version", 0), CharField()),
        ),
    ),
    default=Cast("pk", CharField()),
    output_field=CharField(),
)


def waiting_errors(now: datetime) -> QuerySet[PredictionError]:
    """Return the open errors about memories that can be recalled."""
    found = confirmed(PredictionError.objects.filter(resolved_at=None, memory__isnull=False))
    return found.filter(Exists(Memory.objects.recallable(now).filter(pk=OuterRef("memory"))))


def with_edit(errors: QuerySet[PredictionError]) -> QuerySet[PredictionError]:
    """Annotate errors with `edit`, a text that those about one edit of a note share."""
    return errors.annotate(edit=_EDIT)


def drift_of_edit(path: str, version: int) -> QuerySet[PredictionError]:
    """Return all drift, open or not, of one version of the note with this path, oldest first."""
    found = PredictionError.objects.filter(
        error_type=ErrorType.MEMORY_DRIFT, note_path=path, note_version=version
    )
    return found.order_by("detected_at", "pk")


def same_edit(error: PredictionError, now: datetime) -> QuerySet[PredictionError]:
    """Return the waiting errors about the edit that an error is about, itself among them."""
    if error.error_type != ErrorType.MEMORY_DRIFT or error.note_id is None:
        return waiting_errors(now).filter(pk=error.pk)
    return waiting_errors(now).filter(
        error_type=error.error_type, note=error.note_id, note_version=error.note_version
    )
