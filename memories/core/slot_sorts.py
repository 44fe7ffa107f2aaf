"""The noun that classes the value of an attribute: "the city of Y", "platform 2", "Heron House"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memories.core.function_words import DETERMINERS, PREPOSITIONS, PRONOUNS, words_of
from memories.core.slot_types import SORT
from memories.core.slot_words import ARTICLES, NAME, NUMBER

_NOUN: Final = re.compile(r"[a-z][a-z-]{2,30}")
_CODE: Final = re.compile(r"(?=\S{0,20}\d)[\w.-]{1,20}")
_ADJECTIVES: Final = words_of("positive negative major minor")  # "AB negative", "E major"
_NOT_NOUNS: Final = PRONOUNS | DETERMINERS | PREPOSITIONS | _ADJECTIVES
# Nouns that class a number or a name though they are capitals: "Room 12", "Heron House".
_CAPITALS: Final = words_of(
    "room version port office gate platform floor unit building block suite hall house bay ward"
    " team group class plan tier department division wing family region zone desk shelf rack"
    " extension address seat branch berth quay dock level"
)
_ORDINALS: Final = words_of(
    "ground first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
)
# Nouns of which a thing has, uses or is in one at a time.
EXCLUSIVE: Final = words_of(
    "port region version database platform floor room gate office building level zone house family"
    " plan tier branch rack bay ward seat desk address extension dock quay berth"
)
# Values whose form says of which attribute they are.
_FORMS: Final = {
    "region": re.compile(r"[a-z]{2}-[a-z]{4,9}-\d"),
    "address": re.compile(r"\d{1,3}(?:\.\d{1,3}){3}"),
    "version": re.compile(r"v?\d{1,4}\.\d{1,4}\.\d{1,4}"),
    "zone": re.compile(r"(?:UTC|GMT)[+-]\d{1,2}"),
}


def split_sort(value: Sequence[str], attribute: str) -> tuple[str, list[str]]:
    """Return the noun that classes a value, "" without one, and the other words of the value."""
    words = list(value[1:] if value and _is_article(value[0]) else value)
    if not words or (len(words) <= 2 and NUMBER.fullmatch(words[0])):
        return "", words  # an amount with its unit
    if len(words) > 2 and words[1] == "of" and words[0].islower():  # "the city of Y"
        return words[0], words[2:]
    if len(words) == 2 and _CODE.fullmatch(words[1]) and _is_noun(words[0]):  # "platform 2"
        return words[0].lower(), words[1:]
    if len(words) > 1 and _is_noun(words[-1]) and _is_classed(words[:-1], words[-1], attribute):
        return words[-1].lower(), words[:-1]
    return _sort_by_form(words) if attribute == SORT else ("", words)


def _sort_by_form(words: list[str]) -> tuple[str, list[str]]:
    """Return the noun before a name ("the family Apiaceae"), or of a form ("eu-west-1")."""
    if len(words) > 1 and _NOUN.fullmatch(words[0]) and all(map(NAME.fullmatch, words[1:])):
        return words[0], words[1:]
    name = next((name for name, form in _FORMS.items() if form.fullmatch(words[0])), "")
    return (name, words[:1]) if name else ("", words)


def _is_classed(words: Sequence[str], noun: str, attribute: str) -> bool:
    """Return whether a noun classes the words before it: "the Platform team", "third floor"."""
    if noun.islower():
        return bool(NAME.fullmatch(words[-1]) and len(words[-1]) > 1) or (
            len(words) == 1 and words[0] in _ORDINALS
        )
    return attribute == SORT and all(map(NAME.fullmatch, words))


def _is_article(word: str) -> bool:
    return word in ("a", "an") or word.lower() in ARTICLES


def _is_noun(word: str) -> bool:
    return word.lower() in _CAPITALS or bool(_NOUN.fullmatch(word) and word not in _NOT_NOUNS)
