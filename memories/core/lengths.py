"""Bound the text that is compared claim by claim while a caller waits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MAX_COMPARED_CHARS: Final = 4_000  # each text with each, in both directions: a tenth of a second


def too_long_together(texts: Iterable[str]) -> str:
    """Return why texts are too long to compare while a caller waits; "" when they are not."""
    if sum(map(len, texts)) <= MAX_COMPARED_CHARS:
        return ""
    return f"texts of more than {MAX_COMPARED_CHARS:,} characters together"
