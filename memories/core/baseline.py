"""The baseline of session start: what a session is given without a learned ranker.

    effectiveness = importance · 0.95^days
    total         = recall · (1 - w + w · effectiveness)       w: `EFFECTIVE_WEIGHT`

recall is the score of a recall of the session's context; without a context that can be searched,
total is the effectiveness alone. What does not share anything with the context stays at 0, however
new and important it is. w is the largest that loses less than .025 of nDCG@10 to recall alone on
LoCoMo, whenever its questions are asked (`benchmarks/baseline.py`); a weighted sum of both is no
better at the same loss.

Time lowers every memory by the same factor, so the order of two memories never changes:
ln(importance) + days·ln(1/0.95), counted from any fixed day, is a permanent sort key and can be an
index. Decay ranks and excludes nothing. A pin in its own scope does not decay: its score is 1
there, and that of an ordinary memory elsewhere.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import NamedTuple

EFFECTIVE_WEIGHT = 0.3
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


class BaselineScore(NamedTuple):
    """A memory's score by the baseline, and its parts, each in [0, 1]."""

    total: float
    recall: float | None  # 0: not among what recall found; None: it had nothing to search for
    effectiveness: float


def score_for_context(recall: float | None, worth: float) -> BaselineScore:
    """Return the baseline's score from that of recall and the effectiveness `worth`."""
    if recall is None:
        return BaselineScore(worth, None, worth)
    total = recall * (1 - EFFECTIVE_WEIGHT + EFFECTIVE_WEIGHT * worth)
    return BaselineScore(total, recall, worth)
