"""Erase what prediction errors quote of erased memories, and check restored ones again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from engram.kernel.jobs import wake
from engram.kernel.tenancy import current_workspace_id
from memories.models import NoteSupport, PredictionError
from memories.services.drift.due import TASK


def note_erased(
    sender: Any,
    *,
    memory_ids: Collection[UUID],
    quoted_in: Callable[[Any], bool],
    pieces: Collection[str],
    **_: Any,
) -> None:
    """Delete the errors of other memories, and of notes, that quote an erased one.

    The errors and supports of the erased memories themselves go with their rows.
    """
    others = PredictionError.objects.filter(
        _near(pieces, "query", "context", "resolution_note")
    ).exclude(memory__in=list(memory_ids))
    quoting = [
        row.pk
        for row in others.order_by().iterator()
        if quoted_in([row.query, row.context, row.resolution_note])
    ]
    PredictionError.objects.filter(pk__in=quoting).delete()
    supports = NoteSupport.objects.filter(_near(pieces, "support", "verdict", "earlier")).exclude(
        memory__in=list(memory_ids)
    )
    cleared = [
        row.pk
        for row in supports.order_by().iterator()
        if quoted_in([row.support, row.verdict, row.earlier or ""])
    ]
    NoteSupport.objects.filter(pk__in=cleared).update(
        support=None, note_version=None, earlier=None, earlier_version=None, verdict={},
        is_drifted=False,
    )  # fmt: skip


def _near(pieces: Collection[str], *columns: str) -> Q:
    """Match rows with a text that contains one of the pieces, in any case."""
    near = Q()
    for piece in pieces:
        for column in columns:
            near |= Q(**{f"{column}__iregex": piece}) if piece else Q(pk__isnull=False)
    return near


def note_revived(sender: Any, *, memory_ids: Sequence[UUID], now: datetime, **_: Any) -> None:
    """Check restored memories again: their notes may have changed meanwhile."""
    mine = NoteSupport.objects.filter(memory__in=list(memory_ids))
    if mine.update(due_at=now, attempts=0):
        wake(TASK, current_workspace_id())
