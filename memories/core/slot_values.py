"""Kinds of the values that sentences give to attributes: names, numbers, codes, dates, nouns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memories.core.dates import date_at, dimension
from memories.core.function_words import AUXILIARIES, PREPOSITIONS, words_of
from memories.core.number_words import NUMBER_WORDS
from memories.core.slot_words import IN_NAMES, NAME, NUMBER, is_year
from memories.core.tokeniser import tokenise

_MAX_NAME: Final = 5  # words of a value
_MAX_DATE: Final = 4  # words of "3 of March 1904"
_MAX_PLAIN: Final = 3  # words of a value that is no name
_CODE: Final = re.compile(r"(?=\S{0,40}\d)[\w+./#-]{1,40}")
_GRADE: Final = re.compile(r"[A-Z]{1,2}")
_NOUNS_IN_ED: Final = words_of("shed bed seed weed reed")
_PLAIN: Final = re.compile(r"[a-z][a-z-]{2,30}")


def kind_of(
    words: Sequence[str], thing: frozenset[str], *, is_classed: bool
) -> tuple[str, frozenset[str], str]:
    """Return of which kind a value is, "" for none, its words and its unit.

    A noun that classes the value lets it be a name with a noun: "the sport of American football".
    """
    if not words or not thing:
        return "", frozenset(), ""
    if measured := _measured(words):
        return measured
    value = _names(words)
    if value and len(words) <= _MAX_NAME:
        is_other = not (value <= thing or thing <= value)
        return ("name" if is_other else ""), value, ""
    is_plain = _are_plain(words, is_classed=is_classed)
    return ("plain" if is_plain else ""), frozenset(map(str.lower, words)), ""


def _measured(words: Sequence[str]) -> tuple[str, frozenset[str], str] | None:
    """Return kind, words and unit of a number, a code or a date; None for other values."""
    if NUMBER.fullmatch(words[0]) and len(words) <= 2:
        number = frozenset([words[0].replace(",", "")])
        return ("number", number, words[1].lower()) if words[1:] else ("code", number, "")
    if len(words) == 1 and words[0].lower() in NUMBER_WORDS:
        return "number", frozenset([f"{NUMBER_WORDS[words[0].lower()]:g}"]), ""
    if len(words) == 1 and _CODE.fullmatch(words[0]):
        return "code", frozenset([words[0].lower()]), ""
    if not is_year(words) and (date := _date(words)):
        return "date", frozenset([date]), ""
    return None


def _date(words: Sequence[str]) -> str:
    """Return a day as ISO 8601, "" where words are none: "3 March 1904"."""
    if len(words) > _MAX_DATE:
        return ""
    tokens = tokenise(" ".join(words))
    found = date_at(tokens, 0)
    return found[1] if found and found[0] == len(tokens) and dimension(found[1]) == "day" else ""


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
    is_named = is_classed and found[0].isalpha() and bool(NAME.fullmatch(found[0]))
    if len(found) > 1 and (is_named or _GRADE.fullmatch(found[0])):  # "AB negative"
        found = found[1:]
    return len(found) <= _MAX_PLAIN and all(
        _PLAIN.fullmatch(word)
        and word not in PREPOSITIONS | AUXILIARIES
        and (word in _NOUNS_IN_ED or not word.endswith(("ed", "ly")) or _is_red(word, found))
        for word in found
    )
