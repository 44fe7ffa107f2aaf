"""What people decided since an agent was last here: plugged into session start by setting."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import connection

from conflicts.services.erase import ERASED
from conflicts.services.queue import withheld
from engram.kernel.tenancy import current_workspace_id
from memories.services.session_brief import DECIDED_MAX, Decided

READ_MAX = 50

_STANDING = """
    SELECT made.conflict_id, card.question, made.verdict
    FROM conflicts_decision AS made JOIN conflicts_conflict AS card ON card.id = made.conflict_id
    WHERE made.workspace_id = %(workspace)s AND made.undone_at IS NULL
        AND made.decided_at > %(since)s AND made.decided_at <= %(until)s
    ORDER BY made.decided_at DESC, made.id DESC LIMIT %(most)s
"""


def decided_since(*, since: datetime, until: datetime) -> list[Decided]:
    """Return the decisions that stand and were made between, newest first.

    A card is left out while a memory of it is forgotten, and for good when its words were erased.
    """
    asked: dict[str, Any] = {
        "workspace": current_workspace_id(),
        "since": since,
        "until": until,
        "most": READ_MAX,
    }
    with connection.cursor() as cursor:
        cursor.execute(_STANDING, asked)
        rows = cursor.fetchall()
    hidden = withheld([card for card, *_ in rows]) if rows else frozenset()
    told = [Decided(*row) for row in rows if row[0] not in hidden and row[1] != ERASED]
    return told[:DECIDED_MAX]
