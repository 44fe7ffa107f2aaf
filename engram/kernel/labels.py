"""Labels of rows without their texts, and of numbers, for titles, messages and choices."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Model
from django.utils import timezone

UNBROKEN = "\u00a0"  # a space at which no line breaks
MINUTE, HOUR, DAY = 60, 3600, 86_400


def row_label(row: Model, at: datetime | None = None) -> str:
    """Return the kind of a row, the first characters of its id and its creation time.

    A text would stay in sessions, cookies and logs after it was forgotten or erased.
    """
    label = f"{row._meta.verbose_name} {str(row.pk)[:8]}"
    return label if at is None else f"{label} of {timezone.localtime(at):%-d %b %Y, %H:%M}"


class Count(int):
    """A number that is formatted with its noun: `{:note}`, or `{:memory|memories}`."""

    def __format__(self, noun: str) -> str:
        """Return the number with the noun in its form; without a noun the number alone."""
        if not noun:
            return f"{int(self):,}"
        return f"{int(self):,} {one_of(noun) if self == 1 else plural(noun)}"


def one_of(noun: str) -> str:
    """Return the form of one of a noun as `Count` takes it."""
    return noun.partition("|")[0]


def plural(noun: str) -> str:
    """Return the form of many of a noun as `Count` takes it."""
    one, _, many = noun.partition("|")
    return many or f"{one}s"


def printable(text: str) -> str:
    """Return a text in one line, with single spaces and none of what cannot be printed."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def letter_of(number: int) -> str:
    """Return what pages call the first, second … of several: A to Z, AA to AZ, and so on.

    The keys that answer are numbers: a thing named 1 would be taken for what key 1 chooses.
    """
    rest, place = divmod(number - 1, 26)
    return (letter_of(rest) if rest else "") + chr(ord("A") + place)


def figure(value: float, shape: str) -> str:
    """Return a number in a format, with a minus sign for a hyphen."""
    return format(value, shape).replace("-", "−")


def duration_words(seconds: float) -> str:
    """Return a duration in words; no line break parts the number from its unit."""
    if seconds < 1:
        return f"{seconds * 1000:.0f}{UNBROKEN}ms"
    if seconds < MINUTE:
        return f"{seconds:.1f}{UNBROKEN}s"
    return span_words(seconds).replace(" ", UNBROKEN)


def span_words(seconds: float) -> str:
    """Return a span in its greatest unit."""
    if seconds < MINUTE:
        return "moments"
    if seconds < HOUR:
        return f"{int(seconds / MINUTE)} min"
    if seconds < DAY:
        return f"{int(seconds / HOUR)} h"
    days = int(seconds / DAY)
    if days < 60:
        return f"{days} day{'s' if days > 1 else ''}"
    if days < 730:
        return f"{days // 30} months"
    return f"{days // 365} years"
