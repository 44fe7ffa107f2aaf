"""Where a page of rows begins, as an address carries it: a moment and a row."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID


def mark(at: datetime, row_id: UUID) -> str:
    """Return the mark of a row."""
    return f"{at.isoformat()}_{row_id}"


def read_mark(text: str) -> tuple[datetime, UUID] | None:
    """Return the moment and the row that a mark names; None when it is none."""
    moment, _, row_id = text.partition("_")
    try:
        at = datetime.fromisoformat(moment)
        return (at, UUID(row_id)) if at.tzinfo else None
    except ValueError:
        return None
