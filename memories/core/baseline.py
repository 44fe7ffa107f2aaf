"""The baseline of session start: importance that fades, importance · 0.95^days.

Time lowers every memory by the same factor, so the order of two memories never changes:
ln(importance) + days·ln(1/0.95), counted from any fixed day, sorts them for good and can be an
index. Decay ranks; it excludes nothing. A pin does not fade where it holds: its score is 1 there,
and as everybody's elsewhere.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

KEPT_A_DAY = 0.95
LEAST_IMPORTANCE = 1e-9  # of the order alone, where a logarithm of nothing would be none
SECONDS_A_DAY = 86_400.0
GAIN_A_SECOND = -math.log(KEPT_A_DAY) / SECONDS_A_DAY
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def age_days(observed_at: datetime, now: datetime) -> float:
    """Return the days since a memory was learned, 0 for what lies in the future."""
    return max(0.0, (now - observed_at).total_seconds() / SECONDS_A_DAY)


def effectiveness(importance: float, days: float, *, is_pinned: bool = False) -> float:
    """Return the score in [0, 1] of a memory that was learned so many days ago, 1 for pins here."""
    return 1.0 if is_pinned else importance * KEPT_A_DAY**days


def standing(importance: float, observed_at: datetime, *, is_pinned: bool = False) -> float:
    """Return what orders memories as `effectiveness` does at any time, infinity for pins here."""
    if is_pinned:
        return math.inf
    seconds = (observed_at - _EPOCH).total_seconds()
    return math.log(max(importance, LEAST_IMPORTANCE)) + GAIN_A_SECOND * seconds
