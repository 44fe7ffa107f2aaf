"""Shares in words: the one way in which pages, answers and commands write a percentage."""

from __future__ import annotations


def percent(share: float) -> str:
    """Return a share, 0 to 1, in percent: whole numbers, below 10 % with a decimal."""
    value = 100 * share
    digits = 0 if value >= 9.95 else 1
    return f"{value:.{digits}f}".removesuffix(".0") + " %"
