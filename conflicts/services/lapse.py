"""Closing cards whose question has gone: fewer than two of their memories are still recallable."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q

from conflicts.models import Conflict, ConflictPair
from conflicts.models.card import ConflictStatus
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from memories.models import Memory


def note_hidden(sender: Any, *, memory_ids: Sequence[UUID], now: datetime, **_: Any) -> None:
    """Close open cards that lost their question; their pairs may be found again later."""
    touched = Conflict.objects.filter(
        status__in=[ConflictStatus.OPEN, ConflictStatus.SNOOZED], members__memory__in=memory_ids
    ).values("pk")
    live = Q(members__memory__in=Memory.objects.recallable(now))
    lapsed = (
        Conflict.objects.filter(pk__in=touched)
        .annotate(live_count=Count("members", filter=live))
        .filter(live_count__lt=2)
        .values_list("pk", flat=True)
    )
    for conflict_id in sorted(lapsed):
        closed = Conflict.objects.filter(
            pk=conflict_id, status__in=[ConflictStatus.OPEN, ConflictStatus.SNOOZED]
        ).update(
            status=ConflictStatus.RESOLVED,
            is_lapsed=True,
            version=F("version") + 1,
            updated_at=now,
        )
        if closed:
            ConflictPair.objects.filter(conflict_id=conflict_id).delete()
            record(
                "conflict.resolved",
                of=("conflict", conflict_id),
                actor=SYSTEM,
                now=now,
                data={"verdict": None, "status": "resolved", "lapsed": True},
            )
