"""Describe the outcome of a verdict in a sentence for agents."""

from __future__ import annotations

from collections.abc import Sequence

from memories.core.briefing import excerpt

QUOTED_MAX = 3
_NOTHING_LEFT = "None of the statements asked about holds."
# Used when no kept memory can be recalled any more.
_UNQUOTED = {
    "yes": "Yes, it still holds.",
    "no": "No, it no longer holds.",
    "keep": "Some of the statements hold; they are not recalled any more.",
    "both_valid": "The statements do not exclude each other.",
    "none_valid": _NOTHING_LEFT,
}


def outcome(verdict: str, statements: Sequence[str]) -> str:
    """Return what is true since a verdict; `statements` are the current texts of the kept ones."""
    if not statements:
        return _UNQUOTED[verdict]
    quoted = " | ".join(excerpt(statement) for statement in statements[:QUOTED_MAX])
    if len(statements) == 1:
        return quoted
    more = len(statements) - QUOTED_MAX
    return f"All of these hold: {quoted}{f' | and {more} more' if more > 0 else ''}"
