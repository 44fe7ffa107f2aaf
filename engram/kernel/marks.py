"""Where a page of rows begins, as an address carries it: a moment and a row."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from engram.kernel.literals import moment


def mark(at: datetime, row_id: UUID) -> str:
    """Return the mark of a row."""
    return f"{at.isoformat()}_{row_id}"


def read_mark(text: str) -> tuple[datetime, UUID] | None:
    """Return the moment and the row that a mark names; None when it is none."""
    at, _, row_id = text.partition("_")
    try:
        return moment(at), UUID(row_id)
    except ValueError:
        return None
