"""Make ids that increase with time, so that rows made one after the other sort in that order."""

from __future__ import annotations

import os
import threading
from time import time_ns
from uuid import UUID

_MS_BITS, _FRACTION_BITS, _RANDOM_BITS = 48, 12, 62
_lock = threading.Lock()
_last = 0  # milliseconds and fraction of the id before


def next_id() -> UUID:
    """Return a UUID of version 7 (RFC 9562): time to 1/4096 ms, then 62 random bits.

    Ids of one process increase strictly. Random ids would break the ties of two rankings of the
    same memories differently, and scatter the rows of one import over whole indexes.
    """
    return next_ids(1)[0]


def next_ids(count: int) -> list[UUID]:
    """Return so many ids, increasing, for one question to the system's random source."""
    global _last  # noqa: PLW0603  one clock a process
    random = os.urandom(8 * count)
    milliseconds, rest = divmod(time_ns(), 1_000_000)
    now = (milliseconds << _FRACTION_BITS) + (rest << _FRACTION_BITS) // 1_000_000
    with _lock:
        first = max(now, _last + 1)
        _last = first + count - 1
    return [
        _id_at(first + place, int.from_bytes(random[8 * place : 8 * place + 8]))
        for place in range(count)
    ]


def _id_at(time: int, random: int) -> UUID:
    milliseconds, fraction = divmod(time, 1 << _FRACTION_BITS)
    high = (milliseconds % (1 << _MS_BITS)) << 16 | 7 << 12 | fraction
    low = 0b10 << _RANDOM_BITS | random >> 64 - _RANDOM_BITS
    return UUID(int=high << 64 | low)
