"""Count how often agents said that memories were of use."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q

from memories.models import ReportItem, ReportKind, SessionCandidate


def times_of_use(ids: Collection[UUID]) -> dict[UUID, int]:
    """Return in how many sessions the agent said that each memory was of use, by one query.

    By its feedback, else by its report at the end, as the learned ranking reads them.
    """
    reported = ReportItem.objects.filter(
        session=OuterRef("session"), memory=OuterRef("memory"), kind=ReportKind.USED, value__gt=0
    )
    told = Q(feedback__gt=0) | Q(Exists(reported), feedback=None)
    rows = SessionCandidate.objects.filter(told, memory__in=ids).order_by()
    counted = dict(rows.values_list("memory").annotate(n=Count("session", distinct=True)))
    return {one: counted.get(one, 0) for one in ids}


def times_misled(memory_id: UUID) -> int:
    """Return in how many sessions the agent said that a memory misled."""
    rows = SessionCandidate.objects.filter(memory=memory_id, feedback__lt=0)
    return rows.values("session").distinct().count()
