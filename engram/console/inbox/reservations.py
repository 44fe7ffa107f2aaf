"""Reserve the item that a reviewer has on screen, so that another is given a different one."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from engram.console.models import Reservation

HELD = timedelta(minutes=10)  # as long as reading a transcript may take


def of_others(source: str, user_id: int, now: datetime) -> QuerySet[Reservation]:
    """Return the items of a source that others have on screen."""
    return Reservation.objects.filter(source=source, until__gt=now).exclude(user_id=user_id)


def reserve(source: str, item: UUID, *, user_id: int, name: str, now: datetime) -> str:
    """Reserve an item instead of the member's former one; called inside the workspace.

    Return the name of who has it on screen already, "" when it is the member's own now. Of two at
    the same time one gets it.
    """
    with transaction.atomic():
        over = Q(user_id=user_id) & ~Q(item=item) | Q(until__lte=now)
        Reservation.objects.filter(over, source=source).delete()
        Reservation.objects.bulk_create(
            [Reservation(source=source, item=item, user_id=user_id, by=name, until=now + HELD)],
            ignore_conflicts=True,
        )
        held = Reservation.objects.filter(source=source, item=item)
        own = held.filter(user_id=user_id).update(until=now + HELD)
        return "" if own else str(held.values_list("by", flat=True).first() or "")
