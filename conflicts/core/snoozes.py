"""The moments until which an item may be put off: on different days, whenever it is asked."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Final

MONTH: Final = timedelta(days=30)
LATER: Final = timedelta(hours=3)
MORNING: Final = time(8)


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


def moments_to_put_off(now: datetime) -> dict[str, datetime]:
    """Return the moments that are offered at `now`, by the name of their choice, in order.

    All are in the zone of `now` and on different days: "later" is offered while it is today.
    """
    later = (now.astimezone(UTC) + LATER).astimezone(now.tzinfo)
    hours = {"later": later} if later.date() == now.date() else {}
    days = days_to_put_off(now.date())
    return hours | {name: morning_of(day, now) for name, day in days.items()}


def morning_of(day: date, now: datetime) -> datetime:
    """Return the moment at which an item comes back on a day, in the zone of `now`."""
    return datetime.combine(day, MORNING, tzinfo=now.tzinfo)
