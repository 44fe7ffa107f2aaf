"""Subjects of one kind with other names: "pallet P-204", "pallet P-119"; "the March invoice"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from conflicts.core.numbered_things import Labels, are_of_other_numbers
from conflicts.core.statements import Statement
from memories.core.calendar_words import MONTH_PATTERN, WEEKDAY_PATTERN
from memories.core.code_names import other_code
from memories.core.function_words import words_of
from memories.core.longer_names import other_longer_name, subject_of

_CODED: Final = re.compile(r"\b(?P<noun>[A-Za-z][a-z]{2,30})\s(?P<code>[A-Z]{1,3}-?\d{1,6})\b")
_DATED: Final = re.compile(
    rf"\bthe\s(?P<code>{MONTH_PATTERN}|{WEEKDAY_PATTERN})\s(?P<noun>[a-z]{{3,30}})\b", re.IGNORECASE
)
# Behind these a code is a value: "in box B4", "the office is room B-203".
_PLACES: Final = words_of(
    "room bay rack gate seat desk platform floor office building block hall shelf slot locker box"
    " cabinet aisle zone quay berth stand version row door plan terminal line drawer bin unit"
    " is at in on from to of"
)


def name_two_things(a: Statement, b: Statement) -> bool:
    """Return whether sentences name different things of one kind, by code, date or longer name."""
    texts = (a.fact.content, b.fact.content)
    one, other = a.reading.claims, b.reading.claims
    if len(one) != 1 or len(other) != 1:
        return False
    return (
        (are_of_other_numbers(*map(_coded, texts)) and not _repeats_code(*texts))
        or are_of_other_numbers(*(_dated(subject_of(claim)) for claim in (one[0], other[0])))
        or bool(other_longer_name(one[0], other[0]) or other_code(*texts))
    )


def _repeats_code(a: str, b: str) -> bool:
    """Return whether a text has a code of the other, too: "account DE99 instead of DE11"."""
    mine, theirs = (frozenset(m["code"] for m in _CODED.finditer(text)) for text in (a, b))
    return any(code in b for code in mine) or any(code in a for code in theirs)


@lru_cache(maxsize=8192)
def _coded(text: str) -> Labels:
    """Return the codes behind each noun that is no place."""
    return _by_noun((m["noun"].lower(), m["code"]) for m in _CODED.finditer(text))


@lru_cache(maxsize=8192)
def _dated(subject: str) -> Labels:
    """Return the months and weekdays before each noun of a subject; elsewhere they are values."""
    return _by_noun((m["noun"].lower(), m["code"].lower()[:3]) for m in _DATED.finditer(subject))


def _by_noun(pairs: Iterable[tuple[str, str]]) -> Labels:
    found: dict[str, set[str]] = {}
    for noun, code in pairs:
        if noun not in _PLACES:
            found.setdefault(noun, set()).add(code)
    return found
