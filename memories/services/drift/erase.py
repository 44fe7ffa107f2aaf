"""Erase what prediction errors quote of erased memories, and check restored ones again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from engram.kernel.jobs import wake
from engram.kernel.tenancy import current_workspace_id
from memories.models import ErrorType, NoteSupport, PredictionError
from memories.services.drift.due import TASK
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
    touched = others.filter(stating | Q(pk__in=cleared)).order_by("memory_id", "note_id")
    touched = touched.select_for_update(no_key=True)
    again = list(touched.values_list("pk", flat=True))  # locked before errors, as checks do
    NoteSupport.objects.filter(pk__in=cleared).update(
        support=None, note_version=None, earlier=None, earlier_version=None
    )
    if NoteSupport.objects.filter(pk__in=again).update(
        verdict={}, is_drifted=False, due_at=now, attempts=0
    ):
        wake(TASK, current_workspace_id())
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
    mine = NoteSupport.objects.filter(memory__in=list(memory_ids))
    if mine.update(due_at=now, attempts=0):
        wake(TASK, current_workspace_id())
