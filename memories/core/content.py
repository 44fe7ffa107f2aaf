"""What makes two statements the same to the letter."""

from __future__ import annotations

import hashlib

from memories.core.words import letters


def normalised(content: str) -> str:
    """Return what identifies a statement, however it is spaced, cased and closed."""
    return letters(content)


def content_hash(content: str) -> str:
    """Return the SHA-256 hex digest of the normalised text."""
    return hashlib.sha256(normalised(content).encode("utf-8", "surrogatepass")).hexdigest()
