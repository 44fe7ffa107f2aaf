"""How much text is compared claim by claim while somebody waits for the answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MAX_COMPARED_CHARS: Final = 4_000  # each text with each, in both directions: a tenth of a second


def too_long_together(texts: Iterable[str]) -> str:
    """Return why texts are not compared while a reader waits; empty when they are."""
    if sum(map(len, texts)) <= MAX_COMPARED_CHARS:
        return ""
    return f"texts of more than {MAX_COMPARED_CHARS:,} characters together"
