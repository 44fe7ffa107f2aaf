"""Tell headings that name the text of others from those over a speaker's own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memories.core.extraction.cues import DAYS, FIRST, HERE_AND_NOW
from memories.core.extraction.pasted import OPENING
from memories.core.extraction.request_clauses import FINITE
from memories.core.extraction.request_grammar import find_request
from memories.core.extraction.shown_words import (
    ARTICLES,
    OWN,
    POSSESSIVE,
    QUESTION_WORDS,
    SAYING,
    TEXTS,
    words_in,
)
from memories.core.function_words import PREPOSITIONS, PRONOUNS, words_of
from memories.core.spelling import normalise

# What a heading of one's own words names.
_OWN_NOUNS: Final = words_of(
    "thing fact point detail info information rule preference note item thought decision correction"
    " convention instruction plan idea reason deal upshot context background news update agreement"
    " result summary question catch problem change goal task requirement wish request reminder"
    " conclusion outcome line list one rest next first second last end time day week future moment"
    " way case bottom clarification addition exception answer"
)
_SOURCE: Final = re.compile(
    r"(?:from|per|as per|quoting|according to|via|page \S{1,8} of|section \S{1,8} of"
    r"|chapter \S{1,8} of) ",
    re.IGNORECASE,
)
_NO_SOURCE: Final = DAYS | words_of("now then today here start beginning first next very on")
_MOST_OF_TITLE: Final = 9
_NO_TITLE: Final = {"myself", "ourselves", "for"} | {word for word in FIRST if "'" in word}


def is_source(plain: str) -> bool:
    """Return whether a clause names where a text is from: "From the manual (p. 3)", "Per Slack"."""
    found = _SOURCE.match(plain)
    if found is None:
        return False
    rest = plain[found.end() :]
    words = words_in(rest)
    if not words or words[0] in _NO_SOURCE | OWN or not _NO_SOURCE.isdisjoint(words[-1:]):
        return False
    is_name = rest[:1].isupper() or (words[0] == "the" and rest[4:5].isupper())
    is_named = not TEXTS.isdisjoint(words) or is_name or words[0] in POSSESSIVE
    return is_named and not (words[0] == "the" and words[1:2] and words[1] in _NO_SOURCE)


def is_title(words: Sequence[str], then: str, *, is_alone: bool) -> bool:
    """Return whether a phrase without a verb names a text: "The landlord's answer"."""
    if len(words) > _MOST_OF_TITLE or not (FINITE | SAYING).isdisjoint(words):
        return False
    is_of_somebody = any(_is_owner(word) for word in words[:4])
    is_text = not TEXTS.isdisjoint(words)
    if not is_of_somebody and not OWN.isdisjoint(words) and "from" not in words:
        return False
    if _NO_TITLE & set(words) or words[0] in PREPOSITIONS:
        return False
    is_definite = words[0] in ARTICLES | POSSESSIVE or is_of_somebody
    is_quoted = then[:1] in OPENING
    if is_text and (is_definite or is_alone or is_quoted or "from" in words):
        return True
    is_own = not is_of_somebody and not _OWN_NOUNS.isdisjoint(_singular(words))
    return is_alone and is_definite and words[0] not in {"a", "an"} and not is_own


def names_own(heading: str) -> bool:
    """Return whether a heading is one over its writer's own words: "# Rules", "## About me"."""
    words = words_in(normalise(heading))
    is_own = not (OWN | _OWN_NOUNS).isdisjoint(_singular(words))
    return not words or is_own or find_request(heading) is not None


def _is_owner(word: str) -> bool:
    """Return whether a word is the genitive of a person or thing: "landlord's"."""
    bare = word.removesuffix("'s")
    is_shortened = bare in PRONOUNS | QUESTION_WORDS | HERE_AND_NOW | DAYS | {"that", "here", "let"}
    return (bare != word and not is_shortened) or word.endswith("s'")


def _singular(words: Sequence[str]) -> set[str]:
    return {word.removesuffix("s") for word in words} | set(words)
