"""Statements that give a thing the one value of an attribute: "The capital of X is Y".

`slot_of` says which part of a sentence names the thing, which the attribute and which the value,
whichever stands first; `memories/core/slot_frames.py` has the sentence forms.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memories.core.calendar_words import DAYS_OF_WEEKS, MONTH_PATTERN, MONTHS, SEASONS
from memories.core.number_words import DAYS_IN_WORDS
from memories.core.partial import is_of_part
from memories.core.slot_frames import frames_of
from memories.core.slot_nouns import IDLE, attribute_of
from memories.core.slot_order import in_plain_order
from memories.core.slot_sorts import EXCLUSIVE, split_sort
from memories.core.slot_types import PLACE, SORT, Frame, Slot
from memories.core.slot_values import kind_of

_MAX_CHARS: Final = 300
# "On the third of May" fills no slot of May, nor "the 1st of each month" one of the months.
_DAY_OF_MONTH: Final = re.compile(
    rf"\b(?:{'|'.join(DAYS_IN_WORDS)}|\d{{1,2}}(?:st|nd|rd|th))\sof\s"
    rf"(?:{MONTH_PATTERN}|(?:each|every|the|a)\s(?:month|quarter|year))\b",
    re.IGNORECASE,
)
_TIMES: Final = frozenset(
    (*MONTHS, *(month[:3] for month in MONTHS), *DAYS_OF_WEEKS, *SEASONS, "sept")
)
# Every edition of a cup has another one: "the 2021 Alder Cup" is one edition.
_OF_EDITIONS: Final = frozenset({"by win", "by refere"})
_MAX_WORDS: Final = 24
_WORD: Final = re.compile(r"(?:[^\s,;:()]|(?<=\d):(?=\d)){1,60}")  # "10:00" is one word
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}\b)")
_QUOTED: Final = re.compile(r"[\"“](?P<title>[A-Z][^\"“”,;:]{1,60})[\"”]")
_BOUND: Final = re.compile(r"^(?:a\smaximum\sof|up\sto|at\smost|no\smore\sthan|exactly)\s")


def slot_of(text: str) -> Slot | None:
    """Return the slot that one sentence fills, None when it has another form."""
    return _slot_of_short(text) if len(text) <= _MAX_CHARS else None


@lru_cache(maxsize=4096)
def _slot_of_short(text: str) -> Slot | None:
    text = text.strip().rstrip(".!")
    if _DAY_OF_MONTH.search(text) or is_of_part(text):
        return None
    text = _QUOTED.sub(_as_one_word, text)
    text = in_plain_order(_THOUSANDS.sub("", text))
    words = _WORD.findall(text)
    if not 3 <= len(words) <= _MAX_WORDS or len(text) > sum(map(len, words)) + len(words) + 1:
        return None  # longer, or with another clause behind a comma
    return next((slot for frame in frames_of(words) if (slot := _slot(frame))), None)


def _as_one_word(quoted: re.Match[str]) -> str:
    """Return a quoted title as one word: "Winter in Quillan" is a name of one thing."""
    return quoted["title"].replace(" ", "_")


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _slot(frame: Frame) -> Slot | None:
    if not frame.attribute or not frame.thing or not frame.value:
        return None
    if frame.attribute in _OF_EDITIONS and not any(map(_has_digit, frame.thing.words)):
        return None
    sort, words = split_sort(_BOUND.sub("", " ".join(frame.value)).split(), frame.attribute)
    attribute = frame.attribute
    if (attribute == PLACE and sort not in ("", *IDLE)) or (
        attribute == SORT and sort in EXCLUSIVE
    ):
        attribute = attribute_of([sort])
    kind, value, unit = kind_of(words, frame.thing.words, is_classed=bool(sort))
    if not kind or attribute == SORT or (attribute == PLACE and not _TIMES.isdisjoint(value)):
        return None
    return Slot(attribute, frame.thing, value, " ".join(words), kind, sort, frame.when, unit)
