"""Statements about a part, or about one of many, which leave room for other values."""

from __future__ import annotations

import re
from typing import Final

_PART: Final = re.compile(
    r"\b(?:in\spart|partly|partially|(?:one|some|another)\sof)\b|^some\b", re.IGNORECASE
)


def is_of_part(text: str) -> bool:
    """Return whether a sentence speaks of a part: "in part of oak", "one of our offices"."""
    return bool(_PART.search(text))
