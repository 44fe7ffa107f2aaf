"""Numbers that tell apart what somebody deals with: "signs for slip 12", "inspects hydrant 41"."""

from __future__ import annotations

import re
from typing import Final

from memories.core.function_words import FUNCTION_WORDS, words_of
from memories.core.vocabulary import VERBS, lemma

_NUMBER: Final = re.compile(r"\d{1,6}")
# Behind these a number is a value: "at level 3", "sets limit 30".
_MEASURES: Final = words_of(
    "age size grade level limit timeout count number capacity score weight length height width"
    " depth speed temperature budget price rate ratio retention quota maximum minimum threshold"
    " priority version port channel total interval delay around about"
)
# Not "in" or "at": "works in room 12" says where.
_LEADS: Final = words_of("for of")


def number_objects(a: str, b: str) -> bool:
    """Return whether two sentences number one noun differently, which their verbs may take.

    Nobody says what a thing is: "The clerk prints label 20", not "The limit is 20".
    """
    mine, theirs = _objects(a), _objects(b)
    return any(mine[noun] != theirs[noun] for noun in mine.keys() & theirs.keys())


def _objects(text: str) -> dict[str, str]:
    """Return the number behind each noun that a verb, "for" or "of" leads to."""
    words = [word.strip(".,;:") for word in text.split()]
    return {
        words[at - 1]: words[at]
        for at in range(3, len(words))
        if _NUMBER.fullmatch(words[at]) and _is_object(words, at - 1)
    }


def _is_object(words: list[str], at: int) -> bool:
    """Return whether the word at a position is a noun behind a verb: "approves order"."""
    noun = words[at]
    if not noun.isalpha() or not noun.islower() or noun.endswith(("s", "ed")):
        return False  # "carries 12 cars"
    if noun in FUNCTION_WORDS | _MEASURES:
        return False
    start = at - 1
    while start > 0 and words[start].islower() and words[start] not in FUNCTION_WORDS:
        if _is_verb(words[start]):
            return True
        start -= 1  # "signs for delivery slip"
    return words[start] in _LEADS and start > 0 and _is_verb(words[start - 1])


def _is_verb(word: str) -> bool:
    """Return whether a word is a verb by its form: "prints", "signed"."""
    return word.islower() and len(word) > 3 and (word.endswith(("s", "ed")) or lemma(word) in VERBS)
