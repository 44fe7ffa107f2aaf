"""Dates within the texts that Engram writes: recorded as moments, so that loading shifts them.

Only dates of a card's own memories, in the form in which rules write them; a date that a memory's
content names is part of the story, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Field

from conflicts.core.rules.rule import DATE_FORMAT

# The columns of such texts; memories and what people and agents wrote are never among them.
GENERATED = {"conflicts.Conflict": ("reasoning",)}

MARK = "\0"  # begins a moment within a text or JSON; PostgreSQL keeps no text with it
DATE = re.compile(r"\b\d{1,2} [A-Z][a-z]+ \d{4}\b")
MARKED = re.compile(rf"{MARK}(-?\d+(?:\.\d+)?){MARK}")  # seconds from the end


def is_generated(field: Field[Any, Any]) -> bool:
    """Return whether a column holds texts that Engram writes."""
    return field.name in GENERATED.get(field.model._meta.label, ())


def mark_dates(text: str, moments: Iterable[datetime], end: datetime) -> str:
    """Return a text with the dates of these moments as distances from the end."""
    by_date = {f"{moment.astimezone(UTC):{DATE_FORMAT}}": moment for moment in moments}

    def mark(found: re.Match[str]) -> str:
        moment = by_date.get(found[0])
        return f"{MARK}{(moment - end).total_seconds()}{MARK}" if moment else found[0]

    return DATE.sub(mark, text)


def write_dates(text: str, end: datetime) -> str:
    """Return what `mark_dates` undoes, as the text says it when the story ends then."""

    def write(found: re.Match[str]) -> str:
        moment = end + timedelta(seconds=float(found[1]))
        return f"{moment.astimezone(UTC):{DATE_FORMAT}}"

    return MARKED.sub(write, text)
