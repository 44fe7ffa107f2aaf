"""Mark what memories lean on in notes, where another embedding model read it."""

from __future__ import annotations

from datetime import datetime

from django.db.models import F

from memories.models import NoteSupport


def mark_due(model: str, *, now: datetime) -> None:
    """Mark supports that still agree with their note: they are read anew from its present text.

    Others wait for the next change of their note, which keeps the text until then.
    """
    agreeing = NoteSupport.objects.filter(
        support__isnull=False, is_drifted=False, due_at=None, checked_version=F("note__version")
    ).exclude(model=model)
    held = agreeing.order_by("memory", "note").select_for_update(of=("self",))
    marked = NoteSupport.objects.filter(pk__in=list(held.values_list("pk", flat=True)))
    marked.update(support=None, note_version=None, due_at=now, attempts=0)
