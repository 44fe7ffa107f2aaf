"""What people decided since an agent was last here: plugged into session start by setting."""

from __future__ import annotations

from datetime import datetime

from conflicts.models import Decision
from conflicts.services.erase import ERASED
from conflicts.services.queue import withheld
from memories.services.session_brief import DECIDED_MAX, Decided

READ_MAX = 50


def decided_since(*, since: datetime, until: datetime) -> list[Decided]:
    """Return the decisions that stand and were made between, newest first.

    A card is left out while a memory of it is forgotten, and for good when its words were erased.
    """
    standing = Decision.objects.filter(
        undone_at=None, decided_at__gt=since, decided_at__lte=until
    ).order_by("-decided_at", "-pk")
    rows = list(standing.values_list("conflict_id", "conflict__question", "verdict")[:READ_MAX])
    hidden = withheld([card for card, *_ in rows]) if rows else frozenset()
    told = [Decided(*row) for row in rows if row[0] not in hidden and row[1] != ERASED]
    return told[:DECIDED_MAX]
