"""Whether a holder is alive, by when it was last heard of.

A heartbeat far ahead is one of a clock that went back: were it believed, nobody would take over
until the clock has caught up.
"""

from __future__ import annotations

from datetime import datetime, timedelta


def living(now: datetime, silence: timedelta) -> tuple[datetime, datetime]:
    """Return the range of the heartbeats of who is alive, for `heartbeat_at__range`."""
    return now - silence, now + silence


def is_alive(beat_at: datetime | None, now: datetime, silence: timedelta) -> bool:
    """Tell whether who was heard of then is alive."""
    first, last = living(now, silence)
    return beat_at is not None and first <= beat_at <= last
