"""What makes two statements the same to the letter, and which must never be stored."""

from __future__ import annotations

import hashlib
import re

from memories.core.words import letters

# Shapes of secrets that no sentence has by accident.
_CREDENTIALS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,})\b")),
    ("a Slack token", re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}")),
    ("a secret API key", re.compile(r"\b[sr]k[-_](?:live|test|proj|ant)[-_][A-Za-z0-9_-]{16,}")),
    ("an API key of this service", re.compile(r"\begr_[A-Za-z0-9_-]{40,}")),
    ("a JSON web token", re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}")),
    (
        "a password in a URL",
        re.compile(r"\b[a-z][a-z0-9+.-]{1,30}://[^\s/:@]+:[^\s/:@]{3,}@", re.I),
    ),
    (
        "a password",
        re.compile(
            r"(?<![A-Za-z0-9])"
            r"(?:password|passwd|secret|api[_ -]?key|access[_ -]?key|access[_ -]?token)"
            r"\s*(?:is|=|:)\s*"
            r"['\"]?(?=[^\s'\"]*\d)(?=[^\s'\"]*[A-Za-z])[^\s'\"]{12,}",
            re.I,
        ),
    ),
    (
        "a token",
        re.compile(
            r"(?<![A-Za-z0-9])token\s*[=:]\s*"
            r"['\"]?(?=[A-Za-z+/_-]*\d)(?=[^a-z]*[a-z])[A-Za-z0-9+/_-]{20,}",
            re.I,
        ),
    ),
)


def normalised(content: str) -> str:
    """Return what identifies a statement, however it is spaced, cased and closed."""
    return letters(content)


def content_hash(content: str) -> str:
    """Return the SHA-256 hex digest of the normalised text."""
    return hashlib.sha256(normalised(content).encode("utf-8", "surrogatepass")).hexdigest()


def credential_in(content: str) -> str | None:
    """Name the obvious credential that a text carries, or return None."""
    for name, shape in _CREDENTIALS:
        if shape.search(content):
            return name
    return None
