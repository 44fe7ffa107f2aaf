"""A figure that was expected beside the one it came to: "planned cost", "actual cost"."""

from __future__ import annotations

import re
from typing import Final

_FORECAST: Final = re.compile(
    r"\b(?:planned|forecast(?:ed)?|estimated?|budget(?:ed)?|expected|projected|target|"
    r"plan(?=\s(?:for|is|was)\b))\b"
)
_OUTCOME: Final = re.compile(
    r"\bactual\b|\bfinally\b|\bfinal\s(?:cost|bill|figure|price|sum|amount|count)\b"
)


def are_forecast_and_outcome(a: str, b: str) -> bool:
    """Return whether one text tells what was expected, and only the other what it came to."""
    return _is_forecast_of(a, b) or _is_forecast_of(b, a)


def _is_forecast_of(one: str, other: str) -> bool:
    is_told_apart = not (_OUTCOME.search(one) or _FORECAST.search(other))
    return is_told_apart and bool(_FORECAST.search(one) and _OUTCOME.search(other))
