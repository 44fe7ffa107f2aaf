"""Hash and normalise texts, so that equal statements can be found."""

from __future__ import annotations

import hashlib

from memories.core.spelling import letters
from memories.core.symbols import CAPITAL

CONTENT_MAX_CHARS = 8000  # of a memory
QUOTE_CHARS = 16  # a shorter text is no quote: others say the same by themselves


def normalise_quote(content: str) -> str:
    """Return a text in the form in which quotes of it are searched, without case and spacing.

    The case of units is lost, too: a text that begins with a unit may be quoted after a number.
    """
    return letters(content).replace(CAPITAL, "")


def content_hash(content: str) -> str:
    """Return the SHA-256 hex digest of a statement's `letters()`."""
    return hashlib.sha256(letters(content).encode("utf-8", "surrogatepass")).hexdigest()
