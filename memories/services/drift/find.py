"""Select the prediction errors that are shown."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThanOrEqual

from memories.core.drift.pointers import PROMOTED
from memories.models import ErrorType, Memory, MemoryTag, Note, NoteSupport, PredictionError
from memories.models.drift import OF_NOTES, RETRIEVALS_NEEDED

_COUNT = "queries__len"


def all_errors() -> QuerySet[PredictionError]:
    """Return all errors with their memories."""
    return PredictionError.objects.select_related("memory").order_by("-detected_at", "-pk")


class Leaning(NamedTuple):
    """What a memory leans on in a note: the sentence that covers most of it, "" if none is known.

    `is_drifted`: the note no longer carries the memory; `error` is the open, listed error about
    that, None while no recall has reported it.
    """

    heading: str
    text: str
    is_drifted: bool
    error: UUID | None


def leanings_of(memory: Memory) -> dict[UUID, Leaning]:
    """Return what a memory leans on, by the note."""
    found = NoteSupport.objects.filter(memory=memory).order_by().annotate(
        error=_open_error(),
        is_now=Q(is_drifted=True, checked_version=F("note__version")),
        sentence=F("support__sentences__0"),
    )  # fmt: skip
    return {
        note: Leaning((said or {}).get("heading", ""), (said or {}).get("text", ""), is_now, error)
        for note, said, is_now, error in found.values_list("note", "sentence", "is_now", "error")
    }


def drifted_from(note: Note) -> dict[UUID, UUID | None]:
    """Return the memories that the present version of a note no longer carries.

    Each with the open, listed error about it; None while no recall has reported it.
    """
    found = NoteSupport.objects.filter(note=note, is_drifted=True, checked_version=note.version)
    return dict(found.order_by().annotate(error=_open_error()).values_list("memory", "error"))


def is_read_in_part(note: Note) -> bool:
    """Return whether only the beginning of a note's present version was compared with memories."""
    found = NoteSupport.objects.filter(note=note, checked_version=note.version)
    return found.filter(verdict__is_cut=True).exists()


def _open_error() -> Subquery:
    """Return the open, listed error about a support's memory and note."""
    errors = PredictionError.objects.filter(
        error_type=ErrorType.MEMORY_DRIFT,
        memory=OuterRef("memory"),
        note=OuterRef("note"),
        resolved_at=None,
    )
    return Subquery(confirmed(errors).order_by().values("pk")[:1])


def confirmed(errors: QuerySet[PredictionError]) -> QuerySet[PredictionError]:
    """Keep the errors that are listed: those about a note alone after two distinct queries.

    The drift of a memory that has become a pointer is not listed; a sweep resolves it.
    """
    often = GreaterThanOrEqual(Coalesce(F(_COUNT), 0), RETRIEVALS_NEEDED)
    promoted = MemoryTag.objects.filter(tag=PROMOTED, memory=OuterRef("memory"))
    stale = Q(error_type=ErrorType.MEMORY_DRIFT, resolved_at=None) & Q(Exists(promoted))
    found = errors.exclude(stale)
    return found.filter(~Q(error_type__in=OF_NOTES) | Q(often))


def errors_of_notes(note_ids: Collection[UUID]) -> QuerySet[PredictionError]:
    """Return the open, listed errors about notes alone, the last met first."""
    found = PredictionError.objects.filter(
        note__in=list(note_ids), error_type__in=OF_NOTES, resolved_at=None
    )
    return confirmed(found).order_by("-last_seen_at", "-pk")


def count_errors_of_notes(note_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return how many such errors each note has; notes without any are left out."""
    counted = errors_of_notes(note_ids).order_by().values_list("note").annotate(count=Count("pk"))
    return dict(counted)
