"""Texts that name two things of one kind: "pallet P-204", "pallet P-119"; "the March invoice"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from memories.core.calendar_words import MONTH_PATTERN, WEEKDAY_PATTERN
from memories.core.function_words import words_of
from memories.core.longer_names import other_longer_name

# A code behind a noun, unless it is a place, which may be a value ("the office is room B-203").
_CODED: Final = re.compile(r"\b(?P<noun>[A-Za-z][a-z]{2,30})\s(?P<code>[A-Z]{1,3}-?\d{1,6})\b")
_PLACES: Final = words_of(
    "room bay rack gate seat desk platform floor office building block hall shelf slot locker"
    " cabinet aisle zone quay berth stand version is at in on from to of"
)
_DATED: Final = re.compile(
    rf"\bthe\s(?P<date>{MONTH_PATTERN}|{WEEKDAY_PATTERN})\s[a-z]{{3,30}}\b", re.IGNORECASE
)


def name_two_things(a: str, b: str) -> bool:
    """Return whether the texts name different things of one kind, by code, date or longer name."""
    return (
        _differ(_coded(a), _coded(b))
        or _differ(_dated(a), _dated(b))
        or bool(other_longer_name(a, b))
    )


def _differ(mine: Mapping[str, frozenset[str]], theirs: Mapping[str, frozenset[str]]) -> bool:
    return any(mine[noun].isdisjoint(theirs[noun]) for noun in mine.keys() & theirs.keys())


@lru_cache(maxsize=8192)
def _coded(text: str) -> Mapping[str, frozenset[str]]:
    """Return the codes behind each noun."""
    found: dict[str, frozenset[str]] = {}
    for match in _CODED.finditer(text):
        noun = match["noun"].lower()
        if noun not in _PLACES:
            found[noun] = found.get(noun, frozenset()) | {match["code"]}
    return found


@lru_cache(maxsize=8192)
def _dated(text: str) -> Mapping[str, frozenset[str]]:
    """Return the months and weekdays before nouns, as of one kind."""
    found = frozenset(match["date"].lower()[:3] for match in _DATED.finditer(text))
    return {"": found} if found else {}
