"""Names that callers choose, as parts of addresses."""

from __future__ import annotations

from django.urls import register_converter

SESSION_KEY_MAX_CHARS = 200


class SessionKey:
    """A session's key: any characters but NUL, percent-encoded; slashes are part of it."""

    regex = f"(?s:[^\\x00]{{1,{SESSION_KEY_MAX_CHARS}}})"

    def to_python(self, value: str) -> str:
        """Return the key."""
        return value

    def to_url(self, value: str) -> str:
        """Return the key, to be percent-encoded by the caller of this."""
        return value


register_converter(SessionKey, "session")
