"""Weigh pairs of memories that recalls return together: reinforced by each, halved each month.

    weight(t) = weight(then) · 2^(-(t - then) / `HALF_LIFE_DAYS`)
    reinforced: weight(now) + `STEP` for each recall that returned both among its first `LEADING`

A pair is a link once its weight reaches `LEAST_WALKED`: one recall says only that both fitted one
query. A memory keeps its `PAIRS_KEPT` strongest pairs.
"""

from __future__ import annotations

from typing import Final

HALF_LIFE_DAYS: Final = 30.0
STEP: Final = 0.2
LEADING: Final = 3
LEAST_WALKED: Final = 0.5
PAIRS_KEPT: Final = 20


def decayed(weight: float, days: float) -> float:
    """Return a weight after some days; a time before its reinforcement changes nothing."""
    return float(weight * 2.0 ** (-max(0.0, days) / HALF_LIFE_DAYS))
