"""What people decided since an agent was last here: plugged into session start by setting."""

from __future__ import annotations

from datetime import datetime

from conflicts.models import ConflictMember, Decision
from conflicts.services.erase import ERASED
from memories.services.session_brief import DECIDED_MAX, Decided


def decided_since(*, since: datetime, until: datetime) -> list[Decided]:
    """Return the decisions that stand and were made between, newest first.

    A card is left out while a memory of it is forgotten, and for good when its words were erased.
    """
    forgotten = ConflictMember.objects.exclude(memory__forgotten_at=None)
    standing = (
        Decision.objects.filter(undone_at=None, decided_at__gt=since, decided_at__lte=until)
        .exclude(conflict__in=forgotten.values("conflict"))
        .exclude(conflict__question=ERASED)
        .order_by("-decided_at", "-pk")
    )
    rows = standing.values_list("conflict_id", "conflict__question", "verdict")[:DECIDED_MAX]
    return [Decided(*row) for row in rows]
