"""What makes two statements the same to the letter."""

from __future__ import annotations

import hashlib

from memories.core.spelling import letters
from memories.core.symbols import CAPITAL


def normalise_quote(content: str) -> str:
    """Return a text as searches for quotes of it compare it, however it is spaced and cased.

    Without what tells units apart: a wording that begins with a unit may be quoted behind a number.
    """
    return letters(content).replace(CAPITAL, "")


def content_hash(content: str) -> str:
    """Return the SHA-256 hex digest of what identifies a statement."""
    return hashlib.sha256(letters(content).encode("utf-8", "surrogatepass")).hexdigest()
