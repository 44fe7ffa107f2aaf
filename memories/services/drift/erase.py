"""Erase what prediction errors quote of erased memories, and check restored ones again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from memories.models import ErrorType, NoteSupport, PredictionError
from memories.services.drift.due import mark_due
from memories.services.pieces import may_quote


def note_erased(
    sender: Any,
    *,
    memory_ids: Collection[UUID],
    answering: Collection[UUID] = (),
    quoted_in: Callable[[Any], bool],
    pieces: Collection[str],
    now: datetime,
    **_: Any,
) -> None:
    """Erase from supports and errors what quotes an erased memory, and what states a lost answer.

    The supports and errors of the erased memories themselves go with their rows. Other supports
    are read and checked anew: what they were compared with is erased.
    """
    others = NoteSupport.objects.exclude(memory__in=list(memory_ids))
    supports = others.filter(may_quote(pieces, "support", "verdict", "earlier"))
    cleared = [
        row.pk
        for row in supports.order_by().iterator()
        if quoted_in([row.support, row.verdict, row.earlier or ""])
    ]
    stating = Q(memory__in=list(answering))
    # Locked before errors, as checks do.
    mark_due(others.filter(stating | Q(pk__in=cleared)), now=now, verdict={}, is_drifted=False)
    NoteSupport.objects.filter(pk__in=cleared).update(
        support=None, note_version=None, earlier=None, earlier_version=None
    )
    errors = PredictionError.objects.exclude(memory__in=list(memory_ids))
    near = errors.filter(may_quote(pieces, "query", "context", "resolution_note"))
    quoting = [
        row.pk
        for row in near.order_by().iterator()
        if quoted_in([row.query, row.context, row.resolution_note])
    ]
    stating &= Q(error_type=ErrorType.MEMORY_DRIFT)
    PredictionError.objects.filter(Q(pk__in=quoting) | stating).delete()


def note_revived(sender: Any, *, memory_ids: Sequence[UUID], now: datetime, **_: Any) -> None:
    """Check restored memories again: their notes may have changed meanwhile."""
    mark_due(NoteSupport.objects.filter(memory__in=list(memory_ids)), now=now)
