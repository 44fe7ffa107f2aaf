"""A figure that was expected beside the one it came to: "planned cost", "actual cost"."""

from __future__ import annotations

import re
from typing import Final

_FORECAST: Final = re.compile(
    r"\b(?:plan(?:ned|s)?|forecasts?|forecasted|estimate[sd]?|budget(?:ed|s)?|expected|projected|"
    r"targets?)\b",
    re.IGNORECASE,
)
_OUTCOME: Final = re.compile(r"\b(?:actual(?:ly)?|real|final)\b", re.IGNORECASE)


def are_forecast_and_outcome(a: str, b: str) -> bool:
    """Return whether one text tells what was expected, and the other what it came to."""
    return any(_FORECAST.search(one) and _OUTCOME.search(other) for one, other in ((a, b), (b, a)))
