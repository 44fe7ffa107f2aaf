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
    global _last  # noqa: PLW0603  one clock a process
    milliseconds, rest = divmod(time_ns(), 1_000_000)
    now = (milliseconds << _FRACTION_BITS) + (rest << _FRACTION_BITS) // 1_000_000
    with _lock:
        _last = now = max(now, _last + 1)
    milliseconds, fraction = divmod(now, 1 << _FRACTION_BITS)
    high = (milliseconds % (1 << _MS_BITS)) << 16 | 7 << 12 | fraction
    low = 0b10 << _RANDOM_BITS | int.from_bytes(os.urandom(8)) >> 64 - _RANDOM_BITS
    return UUID(int=high << 64 | low)
