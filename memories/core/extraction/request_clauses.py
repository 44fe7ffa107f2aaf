"""Tell words that say something from words that only open a request, by their grammar."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from memories.core.extraction import cues
from memories.core.function_words import (
    AUXILIARIES,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    words_of,
)
from memories.core.vocabulary import VERBS, lemma

READ_WORDS: Final = 8
CLOSING: Final = " .!?,;:()-\u2013\u2014\"'"
_SUBORDINATE: Final = words_of(
    "if when whenever once unless until while because since as although though before after where"
    " whether that"
)
_LEFT_WORDS: Final = 6  # "One more thing: remember …"
GOING_ON: Final = words_of("and but nor or so though which who whose yet")


def is_clause(text: str) -> bool:
    """Return whether words behind "that" or "remember" say something, and are no noun with it.

    "that Ana is vegan", "that bread goes stale"; not "that image as a draft".
    """
    words = text.split()[:READ_WORDS]
    tokens = [word.strip(CLOSING).lower() for word in words]
    if tokens[0] in _SUBJECTS or words[0][:1].isupper() or any(map(str.isdigit, words[0])):
        return len(words) > 1
    return any(
        word in FINITE or (word.endswith(("s", "ed")) and lemma(word) in VERBS)
        for before, word in pairwise(tokens[:6])
        if before not in _NO_SUBJECT
    )


_SUBJECTS: Final = (DETERMINERS | PRONOUNS) - words_of("that this these those which what whose")
FINITE: Final = AUXILIARIES - words_of("be been being having")
_NO_SUBJECT: Final = DETERMINERS | PREPOSITIONS | words_of("and or to")


def says_something(left: str) -> bool:
    """Return whether words before a request are a statement of their own."""
    words = [word.strip(CLOSING).lower() for word in left.split()]
    words = [word for word in words if word and word not in cues.COURTESY]
    if len(words) < 3 or words[0] in _SUBORDINATE | PREPOSITIONS or left.rstrip().endswith(":"):
        return False
    is_finite = not FINITE.isdisjoint(words) or any("'" in word for word in words)
    return (
        is_finite
        or any(lemma(word) in VERBS for word in words[1:] if word.endswith(("s", "ed")))
        or (words[0] in PRONOUNS and any(lemma(word) in VERBS for word in words[1:3]))
    )


def is_opening(left: str) -> bool:
    """Return whether words only open a request: "One more thing", the name of who is asked."""
    words = [word.strip(CLOSING).lower() for word in left.split()]
    if len(words) > _LEFT_WORDS or not words:
        return False
    if words[0] in _SUBORDINATE | PREPOSITIONS or not FINITE.isdisjoint(words):
        return False
    return cues.HERE_AND_NOW.isdisjoint(words) and cues.DAYS.isdisjoint(words)
