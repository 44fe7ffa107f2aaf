"""Mark what memories lean on in notes, where it has the cosines of another embedding model."""

from __future__ import annotations

from datetime import datetime

from django.db.models import F

from memories.models import NoteSupport


def mark_due(model: str, *, now: datetime) -> None:
    """Mark supports that agree with their note: one check gives their sentences the new cosines.

    Those that have drifted keep their verdict until their next check, which does the same.
    """
    agreeing = NoteSupport.objects.filter(
        support__isnull=False, is_drifted=False, due_at=None, checked_version=F("note__version")
    ).exclude(model=model)
    held = agreeing.order_by("memory", "note").select_for_update(of=("self",))
    marked = NoteSupport.objects.filter(pk__in=list(held.values_list("pk", flat=True)))
    marked.update(due_at=now, attempts=0)
