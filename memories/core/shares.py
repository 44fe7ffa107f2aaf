"""The one way in which pages, answers and commands write a percentage, and pages a score."""

from __future__ import annotations

from typing import Final

SCORE_DIGITS: Final = 3


def percent(share: float) -> str:
    """Return a share, 0 to 1, in percent: whole numbers, below 10 % with a decimal."""
    value = 100 * share
    digits = 0 if value >= 9.95 else 1
    return f"{value:.{digits}f}".removesuffix(".0") + " %"


def score(value: float) -> str:
    """Return the score of a recalled memory, 0 to 1, rounded as the steps that add up to it are."""
    return f"{value:.{SCORE_DIGITS}f}"
