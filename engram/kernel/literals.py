"""Parse numbers, times and ids in texts of callers, with bounds."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from django.utils.dateparse import parse_datetime

MAX_BIGINT = 2**63 - 1
MAX_DIGITS = 19  # of a number; longer texts are refused
MOMENT_MAX_CHARS = 64
NUMBER_MAX_CHARS = 64


def whole_number(text: str, *, least: int, most: int) -> int:
    """Return the number of ASCII digits; raise `ValueError` if it is invalid or out of range."""
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
        raise ValueError(f"{text[:MAX_DIGITS]!r} is not a whole number")
    number = int(text)
    if not least <= number <= most:
        raise ValueError(f"{number} lies outside of {least} to {most}")
    return number


def decimal_number(text: str, *, least: float, most: float) -> float:
    """Return the number that a text writes as JSON may; raise `ValueError` as `whole_number` does.

    "nan" lies within no bounds.
    """
    is_plain = text.isascii() and text == text.strip() and "_" not in text
    if not is_plain or len(text) > NUMBER_MAX_CHARS:
        raise ValueError("not a number")
    number = float(text)
    if not least <= number <= most:
        raise ValueError(f"{number} lies outside of {least} to {most}")
    return number


def moment(text: str) -> datetime:
    """Return the time of an ISO 8601 text, in UTC; without an offset it is UTC.

    Raise `ValueError` if it is invalid, or outside the years 1 to 9999 in UTC.
    """
    if not text.isascii() or len(text) > MOMENT_MAX_CHARS:
        raise ValueError("not a moment")
    found = parse_datetime(text)
    if found is None:
        raise ValueError("not a moment")
    if found.tzinfo is None:
        return found.replace(tzinfo=UTC)
    try:
        return found.astimezone(UTC)
    except OverflowError:
        raise ValueError("not a moment between the years 1 and 9999 in UTC") from None


def row_id(text: str) -> UUID | None:
    """Return the UUID of a text; None if it is not one."""
    try:
        return UUID(text)
    except ValueError:
        return None
