"""Close the asks about a pair of memories when somebody reports how the two relate."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q

from memories.models import Ask, Memory


def close_asks(memory: Memory, other: Memory, *, now: datetime) -> None:
    """Mark the asks about two memories as answered, whoever was asked."""
    pair = Q(memory=memory, other=other) | Q(memory=other, other=memory)
    Ask.objects.filter(pair, answered_at=None).update(answered_at=now)
