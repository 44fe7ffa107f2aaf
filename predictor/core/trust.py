"""Weigh the word of an agent about its own session by how often people agreed with it."""

from __future__ import annotations

from typing import Final

AGENT_VERSION: Final = "2026-11.1"  # of the rules by which an agent's word becomes a verdict
# As reports of contradictions are weighed (`memories/core/track_records.py`), but beginning higher:
# an agent that says what it used speaks of its own work. Until people have checked it, it counts as
# one that they agreed with in six of eight checks; after eight of its own, these weigh as much.
PRIOR_CHECKS: Final = 8
PRIOR_AGREED: Final = 6


def weigh(agreed: int, checked: int) -> float:
    """Return the weight of an agent's word, in (0, 1): the share of agreement, shrunk to .75.

    `agreed` of `checked` statements were on the same side of 0.5 as a person's blind label.
    """
    if not 0 <= agreed <= checked:
        raise ValueError(f"{agreed} of {checked} checks cannot agree")
    return (agreed + PRIOR_AGREED) / (checked + PRIOR_CHECKS)
