"""Group open drift by the edit of a note that caused it: one note, one version of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Case, CharField, Exists, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Cast, Concat

from memories.models import ErrorType, Memory, PredictionError
from memories.services.drift.find import confirmed

NO_VERSION = 0  # of a note: versions begin with 1. No edit is known for such drift (`move.py`).
# Drift of one version of a note has one value, any other error one of its own.
_EDIT = Case(
    When(
        Q(error_type=ErrorType.MEMORY_DRIFT, note__isnull=False, note_version__gt=NO_VERSION),
        then=Concat(Cast("note_id", CharField()), Value(":"), Cast("note_version", CharField())),
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
    ).exclude(note_version=NO_VERSION)
    return found.order_by("detected_at", "pk")


def same_edit(among: QuerySet[Any], error: PredictionError) -> QuerySet[Any]:
    """Return the errors, annotated by `with_edit`, about the edit that an error is about."""
    mine: QuerySet[Any] = with_edit(PredictionError.objects.filter(pk=error.pk))
    found = among.filter(edit=Subquery(mine.order_by().values("edit")))
    return found.filter(note=error.note_id) if error.note_id else found
