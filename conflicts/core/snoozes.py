"""The times until which an item may be put off: different days, whatever day it is."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

MONTH: Final = timedelta(days=30)


def days_to_put_off(today: date) -> dict[str, date]:
    """Return the days that are offered, by the name of their choice, in order and all different.

    "week" is the Monday of the next week, on a Sunday that of the week after: tomorrow is another
    choice.
    """
    tomorrow = today + timedelta(days=1)
    monday = today + timedelta(days=7 - today.weekday())
    if monday <= tomorrow:
        monday += timedelta(days=7)
    return {"tomorrow": tomorrow, "week": monday, "month": today + MONTH}
