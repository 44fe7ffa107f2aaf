"""Score memories by decayed importance: importance · 0.95^days, the baseline of session start.

Time lowers every memory by the same factor, so the order of two memories never changes:
ln(importance) + days·ln(1/0.95), counted from any fixed day, is a permanent sort key and can be an
index. Decay ranks and excludes nothing. A pin in its own scope does not decay: its score is 1
there, and that of an ordinary memory elsewhere.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

KEPT_A_DAY = 0.95
LEAST_IMPORTANCE = 1e-9  # in `order_key` only, because ln(0) is undefined
SECONDS_A_DAY = 86_400.0
GAIN_A_SECOND = -math.log(KEPT_A_DAY) / SECONDS_A_DAY
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def age_days(observed_at: datetime, now: datetime) -> float:
    """Return the days since a memory was observed, 0 for a time in the future."""
    return max(0.0, (now - observed_at).total_seconds() / SECONDS_A_DAY)


def effectiveness(importance: float, days: float, *, is_pinned: bool = False) -> float:
    """Return the score in [0, 1] of a memory of this age; a pin in its scope scores 1."""
    return 1.0 if is_pinned else importance * KEPT_A_DAY**days


def order_key(importance: float, observed_at: datetime, *, is_pinned: bool = False) -> float:
    """Return a key in the order of `effectiveness` at any time; infinity for pins in scope."""
    if is_pinned:
        return math.inf
    seconds = (observed_at - _EPOCH).total_seconds()
    return math.log(max(importance, LEAST_IMPORTANCE)) + GAIN_A_SECOND * seconds
