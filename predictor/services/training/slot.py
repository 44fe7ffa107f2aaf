"""One training at a time in the workers: a row with a heartbeat, never a lock held meanwhile.

A training computes for seconds. On a machine with two worker processes two of them would hold up
detection and judging, so that the next one waits for its turn.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q

from predictor.models import TrainingSlot
from predictor.services.heartbeat import living

# A holder that was silent for so long is taken for dead.
SILENCE = timedelta(seconds=60)
_ONLY = 1


def take(holder: UUID, now: datetime) -> bool:
    """Take the slot if it is free or its holder has fallen silent."""
    TrainingSlot.objects.get_or_create(pk=_ONLY)
    free = Q(holder=None) | ~Q(heartbeat_at__range=living(now, SILENCE))
    taken = TrainingSlot.objects.filter(free, pk=_ONLY).update(holder=holder, heartbeat_at=now)
    return bool(taken)


def beat(holder: UUID, now: datetime) -> bool:
    """Say that the holder is alive; False when somebody took the slot over."""
    return bool(TrainingSlot.objects.filter(holder=holder).update(heartbeat_at=now))


def give_back(holder: UUID) -> None:
    """Let the next one train."""
    TrainingSlot.objects.filter(holder=holder).update(holder=None, heartbeat_at=None)
