"""Order the candidates of a session as a ranking does."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from memories.models import SessionCandidate


def order_by_rank(rows: Iterable[SessionCandidate], rank: str) -> list[UUID]:
    """Return the candidates' ids by one of the two rankings, `rank` its column.

    Pins and constraints are left out: every session is given them, whatever the ranking.
    """
    placed = [row for row in rows if getattr(row, rank) is not None and not row.is_always]
    return [row.memory_id for row in sorted(placed, key=lambda row: (getattr(row, rank), row.pk))]
