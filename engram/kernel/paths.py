"""URL converters for names that callers choose."""

from __future__ import annotations

from django.urls import register_converter

SESSION_KEY_MAX_CHARS = 200


class SessionKey:
    """URL converter of a session key: any characters but NUL; slashes are part of it."""

    regex = f"(?s:[^\\x00]{{1,{SESSION_KEY_MAX_CHARS}}})"

    def to_python(self, value: str) -> str:
        """Return the key."""
        return value

    def to_url(self, value: str) -> str:
        """Return the key; the caller percent-encodes it."""
        return value


class NotePath:
    """URL converter of a note's path: any characters; slashes are part of it."""

    regex = "(?s:.{1,2000})"

    def to_python(self, value: str) -> str:
        """Return the path, which the view validates."""
        return value

    def to_url(self, value: str) -> str:
        """Return the path; the caller percent-encodes it."""
        return value


register_converter(NotePath, "note")
register_converter(SessionKey, "session")
