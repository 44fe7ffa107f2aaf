"""Build the features that rankers read: signal columns, clock, hashed words, project slot.

A change of the meaning of a feature raises `types.FEATURE_VERSION`.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from datetime import UTC, datetime, tzinfo
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from predictor.core.types import PROJECT_SLOTS, SIGNALS, TOKEN_BUCKETS

LEAST_AGE_DAYS = 1 / 24
LEAST_EFFECTIVENESS = 1e-4  # an importance of 0.3 that decayed for half a year

# In scripts that are written without spaces every character is a word.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")


class WidthError(ValueError):
    """Raised when arrays do not have the widths that the ranker expects."""


def token_buckets(text: str) -> NDArray[np.int64]:
    """Return the distinct buckets of a text's words, ascending; empty without words.

    Words are compared in Unicode form NFKC and without case. Their counts are ignored, so that
    repeating a word has no effect.
    """
    words = set(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
    return np.array(sorted({_fnv1a(word) % TOKEN_BUCKETS for word in words}), dtype=np.int64)


def project_slot(name: str) -> int | None:
    """Return the slot in [0, 32) of a project's name; None when there is no name."""
    plain = unicodedata.normalize("NFKC", name).strip().casefold()
    return _fnv1a(plain) % PROJECT_SLOTS if plain else None


def clock_of(at: datetime, zone: tzinfo = UTC) -> tuple[float, float, float]:
    """Return hour [0, 24), weekday [0, 7) from Monday and month [0, 12), fractional, in a zone."""
    at = at.astimezone(zone)
    hour = at.hour + at.minute / 60 + at.second / 3600
    day = at.day - 1 + hour / 24
    return hour, at.weekday() + hour / 24, at.month - 1 + day / monthrange(at.year, at.month)[1]


def signals(
    *,
    age_days: ArrayLike,
    importance: ArrayLike,
    access_count: ArrayLike,
    hour: float,
    weekday: float,
    month: float,
    gap_hours: ArrayLike,
    is_embedded: ArrayLike,
    is_superseded: ArrayLike,
) -> NDArray[np.float64]:
    """Build the columns of `SIGNALS`, (n, 12); scalars hold for all n (n = 1 with scalars only).

    A negative age or gap, from a clock that was set back, counts as zero.

    Raises
    ------
    WidthError
        When the arrays' lengths differ.
    """
    columns = [
        np.log(np.maximum(age_days, LEAST_AGE_DAYS)),
        importance,
        np.log1p(np.maximum(access_count, 0)),
        *clock_signals(hour, weekday, month),
        np.log1p(np.maximum(gap_hours, 0)),
        is_embedded,
        is_superseded,
    ]
    try:
        rows = np.broadcast_arrays(*(np.atleast_1d(np.asarray(c, dtype=float)) for c in columns))
    except ValueError as error:
        raise WidthError(f"columns of {len(SIGNALS)} signals differ in length") from error
    return np.stack(rows, axis=1)


def log_effectiveness(baseline_score: ArrayLike) -> NDArray[np.float64]:
    """Return the log of the baseline's scores (n,), with a floor so that it is finite.

    Raises
    ------
    ValueError
        When a score is NaN or infinite.
    """
    score = np.atleast_1d(np.asarray(baseline_score, dtype=np.float64))
    if not np.isfinite(score).all():
        raise ValueError("a baseline score is not finite")
    return np.asarray(np.log(np.maximum(score, LEAST_EFFECTIVENESS)))


def clock_signals(hour: float, weekday: float, month: float) -> tuple[float, ...]:
    """Return the six columns of a clock, those of `CLOCK_COLUMNS`."""
    return (*circle(hour, 24), *circle(weekday, 7), *circle(month, 12))


def circle(value: float, period: float) -> tuple[float, float]:
    """Return sine and cosine of a value on a cycle of length ``period``."""
    angle = 2 * np.pi * value / period
    return float(np.sin(angle)), float(np.cos(angle))


@lru_cache(maxsize=65_536)
def _fnv1a(word: str) -> int:
    """Return the 32-bit FNV-1a hash (Fowler, Noll and Vo) of the word in UTF-8."""
    value = 0x811C9DC5
    for byte in word.encode("utf-8", "surrogatepass"):
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value
