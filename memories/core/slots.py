"""Statements that give a thing the one value of an attribute: "The capital of X is Y".

`slot_of` says which part of a sentence names the thing, which the attribute and which the value,
whichever stands first; `memories/core/slot_frames.py` has the sentence forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from memories.core.calendar_words import DAYS_OF_WEEKS, MONTH_PATTERN, MONTHS, SEASONS
from memories.core.function_words import PREPOSITIONS, words_of
from memories.core.number_words import DAYS_IN_WORDS, NUMBER_WORDS
from memories.core.partial import is_of_part
from memories.core.slot_frames import frames_of
from memories.core.slot_nouns import IDLE, attribute_of
from memories.core.slot_order import in_plain_order
from memories.core.slot_sorts import EXCLUSIVE, split_sort
from memories.core.slot_types import PLACE, SORT, Frame, Slot
from memories.core.slot_words import IN_NAMES, NAME

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
_MAX_WORDS: Final = 24
_MAX_NAME: Final = 5  # words of a value
_MAX_PLAIN: Final = 3  # words of a value that is no name
_WORD: Final = re.compile(r"[^\s,;:()]{1,60}")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}\b)")
_QUOTED: Final = re.compile(r"[\"“](?P<title>[A-Z][^\"“”,;:]{1,60})[\"”]")
_NUMBER: Final = re.compile(r"\d[\d.,]*")
_CODE: Final = re.compile(r"(?=\S{0,40}\d)[\w+./#-]{1,40}")
_BOUND: Final = re.compile(r"^(?:a\smaximum\sof|up\sto|at\smost|no\smore\sthan|exactly)\s")
_GRADE: Final = re.compile(r"[A-Z]{1,2}")
_NOUNS_IN_ED: Final = words_of("shed bed seed weed reed")
_PLAIN: Final = re.compile(r"[a-z][a-z-]{2,30}")


@lru_cache(maxsize=4096)  # of short texts only
def slot_of(text: str) -> Slot | None:
    """Return the slot that one sentence fills, None when it has another form."""
    text = text.strip().rstrip(".!")
    if len(text) > _MAX_CHARS or _DAY_OF_MONTH.search(text) or is_of_part(text):
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


def _slot(frame: Frame) -> Slot | None:
    if not frame.attribute or not frame.thing or not frame.value:
        return None
    sort, words = split_sort(_BOUND.sub("", " ".join(frame.value)).split(), frame.attribute)
    attribute = frame.attribute
    if (attribute == PLACE and sort not in ("", *IDLE)) or (
        attribute == SORT and sort in EXCLUSIVE
    ):
        attribute = attribute_of([sort])
    kind, value, unit = _kind_of(words, frame.thing.words, is_classed=bool(sort))
    if not kind or attribute == SORT or (attribute == PLACE and not _TIMES.isdisjoint(value)):
        return None
    return Slot(attribute, frame.thing, value, " ".join(words), kind, sort, frame.when, unit)


def _kind_of(
    words: Sequence[str], thing: frozenset[str], *, is_classed: bool
) -> tuple[str, frozenset[str], str]:
    """Return of which kind a value is, "" for none, its words and its unit.

    A noun that classes the value lets it be a name with a noun: "the sport of American football".
    """
    if not words or not thing:
        return "", frozenset(), ""
    if _NUMBER.fullmatch(words[0]) and len(words) <= 2:
        number = frozenset([words[0].replace(",", "")])
        return ("number", number, words[1].lower()) if words[1:] else ("code", number, "")
    if len(words) == 1 and words[0].lower() in NUMBER_WORDS:
        return "number", frozenset([f"{NUMBER_WORDS[words[0].lower()]:g}"]), ""
    if len(words) == 1 and _CODE.fullmatch(words[0]):
        return "code", frozenset([words[0].lower()]), ""
    value = _names(words)
    if value and len(words) <= _MAX_NAME:
        return ("" if value <= thing or thing <= value else "name"), value, ""
    is_plain = _are_plain(words, is_classed=is_classed)
    return ("plain" if is_plain else ""), frozenset(words), ""


def _names(words: Sequence[str]) -> frozenset[str]:
    """Return the words of a name; nothing when there are others than a name has."""
    named = [word for word in words if NAME.fullmatch(word)]
    if any(word not in named and word not in IN_NAMES for word in words):
        return frozenset()
    return frozenset(word.lower() for word in named)


def _is_red(word: str, words: Sequence[str]) -> bool:
    """Return whether a word is the colour of a noun: "the red kite"; alone it is a value."""
    return word == "red" and len(words) > 1


def _are_plain(words: Iterable[str], *, is_classed: bool) -> bool:
    """Return whether words are one plain noun phrase: "association football"."""
    found = list(words)
    is_named = is_classed and bool(NAME.fullmatch(found[0]))
    if len(found) > 1 and (is_named or _GRADE.fullmatch(found[0])):  # "AB negative"
        found = found[1:]
    return len(found) <= _MAX_PLAIN and all(
        _PLAIN.fullmatch(word)
        and word not in PREPOSITIONS
        and (word in _NOUNS_IN_ED or not word.endswith(("ed", "ly")) or _is_red(word, found))
        for word in found
    )
