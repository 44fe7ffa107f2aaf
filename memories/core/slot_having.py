"""Sentence forms of "has": "X has its hub in Y", "X has the blood type Y", "X has six engines"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memories.core.function_words import words_of
from memories.core.number_words import NUMBER_WORDS
from memories.core.slot_nouns import attribute_of
from memories.core.slot_types import Frame, Thing
from memories.core.slot_words import ARTICLES, NAME, NUMBER

_WHERE: Final = words_of("in on at")
# Of which a thing has one, as "the blood type" tells: not "the feature flag".
_LABELS: Final = words_of(
    "type rank name number plate code colour size grade sign postcode shelfmark edition version"
    " position"
)
_EXACTLY: Final = words_of("exactly just only precisely")
_MAX_NOUN: Final = 3  # words of an attribute, and of what is counted
_DIGITS: Final = re.compile(r"\d{1,9}")


def frames_of_having(thing: Thing, words: Sequence[str]) -> Iterator[Frame]:
    """Read what follows "has": place, label or measure of an attribute, or how many of a noun."""
    if words and (counted := _counted(words)):
        yield Frame(counted[0], thing, counted[1])
    if len(words) < 3 or words[0] not in (*ARTICLES, "a", "an"):
        return
    rest = words[1:]
    where = next((at for at, word in enumerate(rest) if word in _WHERE and at), 0)
    named = next((at for at, word in enumerate(rest) if NAME.fullmatch(word)), 0)
    of = rest.index("of") if "of" in rest else 0
    if words[0] in ("a", "an"):
        is_measure = 0 < of <= _MAX_NOUN and of < len(rest) - 1
        if is_measure and NUMBER.fullmatch(rest[of + 1]):  # "a length of 28 km"
            yield Frame(attribute_of(rest[:of]), thing, rest[of + 1 :])
    elif where and where < len(rest) - 1:
        yield Frame(attribute_of(rest[:where]), thing, rest[where + 1 :])
    elif 0 < named <= _MAX_NOUN and _is_label(rest[:named]):
        yield Frame(attribute_of(rest[:named]), thing, rest[named:])


def _is_label(words: Sequence[str]) -> bool:
    """Return whether words name an attribute of which a thing has one: "the blood type"."""
    return all(word.islower() for word in words) and words[-1] in _LABELS


def _counted(words: Sequence[str]) -> tuple[str, Sequence[str]] | None:
    """Return the attribute and the number of "exactly six engines"."""
    words = words[1:] if words[0] in _EXACTLY else words
    if not 2 <= len(words) <= _MAX_NOUN or not all(word.isalpha() for word in words[1:]):
        return None
    number = words[0].lower()
    if not (_DIGITS.fullmatch(number) or number in NUMBER_WORDS) or not words[-1].endswith("s"):
        return None
    return attribute_of(["number", *words[1:]]), words[:1]
