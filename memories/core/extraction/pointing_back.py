"""Tell lines that say of the text above them that it is others', or ask about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memories.core.extraction.cues import DAYS, FIRST, SECOND
from memories.core.extraction.request_clauses import FINITE
from memories.core.extraction.shown_titles import is_source
from memories.core.extraction.shown_words import (
    OWN,
    READING,
    RECEIVING,
    SAYING,
    TEXTS,
    TO_THE_ASKED,
    is_text_phrase,
    plain_clause,
    words_in,
)
from memories.core.function_words import DETERMINERS, words_of

_BACKWARD: Final = words_of("this these that those it above")
_ARROWS: Final = "^\u2191\u2b06\u261d"
_PUT: Final = RECEIVING | SAYING | words_of("written quoted printed")
_STRESSING: Final = words_of("just all exactly literally")


def points_back(clause: str, sign: str, *, is_last: bool) -> bool:
    """Return whether a line of its own says of what stands above it that it is a text of others.

    "^ that's what the popup said", "The above is from the release notes.", "Is that legit?"; a
    question does so only at the end of the turn (`is_last`).
    """
    plain = plain_clause(clause).strip("()")
    words = words_in(plain)
    if plain and plain[0] in _ARROWS:
        return True
    if words[:2] == ["the", "above"]:
        words = words[1:]
    if len(words) < 2 or words[0] in OWN:
        return False
    if _attributes(words):
        return True
    if not is_last or sign == ":":
        return False
    is_named = is_source(plain) and not TEXTS.isdisjoint(words)  # "(from the vendor's FAQ)"
    return is_named or _asks(words, sign)


def _attributes(words: Sequence[str]) -> bool:
    """Return whether words say whose the text is: "That was on the sticker"."""
    is_short = words[0].endswith("'s")
    is_finite = is_short or words[1] in FINITE | {"came", "comes"}
    if words[0].removesuffix("'s") not in _BACKWARD or not is_finite:
        return False
    rest = list(words[1 if is_short else 2 :])
    while rest and rest[0] in _STRESSING:
        rest = rest[1:]
    if rest[:1] in (["what"], ["how"]):
        return OWN.isdisjoint(rest[1:2]) and not SAYING.isdisjoint(rest[1:])
    if not rest or not OWN.isdisjoint(rest[1:]) or not DAYS.isdisjoint(rest):
        return False
    is_from = rest[0] in _PLACES and rest[1:2] != [] and rest[1] in DETERMINERS
    return is_from or rest[0] in _PUT or is_text_phrase(rest)


_PLACES: Final = words_of("from on in at by")


def _asks(words: Sequence[str], sign: str) -> bool:
    """Return whether words ask about the text, or for something to be done with it."""
    if words[-1] in TO_THE_ASKED:
        return False
    if sign == "?" and words[0] in _ASKING:
        return not _BACKWARD.isdisjoint(words[1:4]) and "you" not in words
    if sign == "?" and words[0] in {"what", "what's"}:
        return not _BACKWARD.isdisjoint(words) and FIRST.isdisjoint(words)
    at = 2 if words[0] in _POLITE and words[1] in SECOND else 0
    is_order = len(words) > at and words[at] in READING
    return is_order and not _BACKWARD.isdisjoint(words[at + 1 : at + 4])


_ASKING: Final = words_of("is are was should does")
_POLITE: Final = words_of("can could would will")
