"""Phrases in several spellings: ranges of weekdays ("Mon–Fri"), floors ("the third floor")."""

from __future__ import annotations

from typing import Final

from memories.core.calendar_words import WEEKDAY_SPELLINGS
from memories.core.number_words import NUMBER_WORDS, ORDINALS

_SPELLINGS: Final = tuple(spellings.split() for spellings in WEEKDAY_SPELLINGS)
# Words with a hyphen come apart: "Mon-Fri" is two.
_SIGNS: Final = ("to", "till", "through", "thru", "-", "\u2013", "\u2014")
_BETWEEN: Final = ((), *((sign,) for sign in _SIGNS))
_WORDS: Final = frozenset(["sat", "sun", "wed"])  # "The sun sat low."
_FLOORS: Final = ("floor", "storey", "story", "level")


def _weekday_ranges() -> dict[tuple[str, ...], str]:
    """Return "mon – fri" and the like as "monday to friday", which stays itself."""
    return {
        (one, *between, other): f"{first[0]} to {last[0]}"
        for first in _SPELLINGS
        for last in _SPELLINGS
        if first is not last
        for one in first
        for other in last
        for between in _BETWEEN
        if (one, between, other) != (first[0], ("to",), last[0])
        and (between or not {one, other} <= _WORDS)
    }


def _floors() -> dict[tuple[str, ...], str]:
    """Return "third floor" and "3rd floor" as "floor three"."""
    found: dict[tuple[str, ...], str] = {}
    cardinals = {value: word for word, value in NUMBER_WORDS.items()}
    for word, number in ORDINALS.items():
        ending = {1: "st", 2: "nd", 3: "rd"}.get(number, "th")
        for floor in _FLOORS:
            for spelled in ((word,), (str(number), ending)):
                found[*spelled, floor] = f"{floor} {cardinals[number]}"
    return found


SPELLED_PHRASES: Final = _weekday_ranges() | _floors()
