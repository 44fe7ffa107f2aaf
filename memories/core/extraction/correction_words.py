"""Read words by which a speaker corrects what they have just said: "No wait, 4412."."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from memories.core.extraction.cues import COURTESY
from memories.core.extraction.private_patterns import MISTAKEN
from memories.core.extraction.request_clauses import FINITE
from memories.core.extraction.request_grammar import find_request
from memories.core.extraction.requests import lacks_referent
from memories.core.extraction.statements import Statement
from memories.core.function_words import (
    AUXILIARIES,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    words_of,
)
from memories.core.number_words import NUMBER_WORDS, ORDINALS
from memories.core.spelling import bare_words, normalise
from memories.core.vocabulary import VERBS, lemma

READ_CHARS: Final = 300  # of a statement; a longer one corrects nothing
_MOST_OF_VALUE: Final = 6  # words
_HESITATING: Final = (
    r"(?:actually|no|nope|sorry|pardon(?: me)?|oops|whoops|wait(?: a \w{2,7})?|(?:hang|hold) on"
    r"|oh|ah|ugh|argh|hm+|well|ok|okay|so|and|but|rather|or rather|correction"
    r"|my (?:mistake|bad|error)"
    rf"|i (?:misspoke|mistyped)|(?:{MISTAKEN})(?= ?(?:[,;:.!\u2013\u2014]|$))"
    r"|(?:it )?turns out(?: that)?"
    r"|i (?:was (?:wrong|mistaken)|got (?:that|it|this) wrong)(?: there)?"
    r"|i(?: have|['\u2019]ve)?(?: just \w{2,12}ed| (?:just |only )?(?:looked|checked)| just asked)"
    r"(?: it)?(?: up| again)?"
    r"(?= ?[,;:.!\u2013\u2014]))"
)
_MEANT: Final = (
    r"(?:i (?:meant|mean)(?: to (?:say|write|type))?|i (?:should have|should've) (?:said|written)"
    r"|i should say(?! (?:so|that|hello|thanks)\b)"
    r"|(?:make|read) (?:that|it)(?: as)?|(?:that|it|this) (?:should|was (?:meant|supposed) to)"
    r"(?: have)? (?:be(?:en)?|say|said|read)|(?:change|correct) (?:that|it|this) to)"
)
_WORDS = re.compile(
    rf"(?P<hesitating>(?:{_HESITATING}(?![\w'-])[ ,;:.!\u2013\u2014-]{{0,4}}){{0,5}})"
    rf"(?:(?P<meant>{_MEANT})(?![\w'-])[ ,:]{{0,3}}(?:that (?=\S+ \S))?)?",
    re.IGNORECASE,
)
_PLAINLY = re.compile(
    rf"\b(?:correction|rather|mistake|mistaken|wrong|bad|error|misspoke|mistyped|{MISTAKEN})\b",
    re.IGNORECASE,
)
_TURNING: Final = words_of(
    "actually no nope sorry pardon oops whoops wait hang hold checked looked just turns"
)
# "Three dogs, actually."
_BEHIND_VALUE: Final = re.compile(
    r"(?P<value>[^,;:.!?]{1,60}), (?:actually|rather|sorry|i (?:mean|meant))[.!]?$", re.IGNORECASE
)
_CERTAIN: Final = words_of("no nope sorry pardon oops whoops")
# What follows such words and is no value: "Wait, one more thing.", "Sorry, typo.".
_NO_VALUE: Final = words_of(
    "thing things question questions typo moment second sec minute minutes more another else idea"
    " also too either though anyway matter problem worries rush"
)
_ORDERS: Final = words_of("make read change")
COUNTING: Final = NUMBER_WORDS.keys() | ORDINALS.keys()


@dataclass(frozen=True, slots=True)
class Correction:
    """What stands behind words of correction."""

    value: str
    is_plain: bool  # the words can say nothing else: "I meant", "correction"
    is_certain: bool  # a clause behind them is no mere addition
    is_order: bool  # "make that …", which may be about a thing

    @property
    def is_value(self) -> bool:
        """Return whether it is a value alone, and no clause."""
        words = bare_words(self.value)
        if not 0 < len(words) <= _MOST_OF_VALUE or not FINITE.isdisjoint(words):
            return False
        is_clause = lacks_referent(self.value) or any("n't" in word for word in words)
        if is_clause or words[0] in COURTESY | PRONOUNS | {"to"}:
            return False
        says = [word for word in words if word not in _FUNCTION_WORDS or word in COUNTING]
        is_verb = lemma(words[0]) in VERBS and words[0] not in COUNTING
        is_command = is_verb and not self.is_plain
        return (
            bool(says) and not is_command and not _has_verb(words) and _NO_VALUE.isdisjoint(words)
        )


def _has_verb(words: Sequence[str]) -> bool:
    """Return whether a verb with the ending of a person or tense stands behind another word."""
    return any(
        lemma(word) in VERBS
        and lemma(word) != word
        and (place + 2 < len(words) or not word.endswith("s"))
        and before not in DETERMINERS | PREPOSITIONS | COUNTING
        for place, (before, word) in enumerate(pairwise(words))
    )


_FUNCTION_WORDS: Final = AUXILIARIES | DETERMINERS | PREPOSITIONS | PRONOUNS | COURTESY


def correction_of(statement: Statement) -> Correction | None:
    """Return what a statement says that corrects another, None where it is a request of its own.

    The words of correction may stand in a sentence before it.
    """
    if not statement.corrects or find_request(statement.text) is not None:
        return None
    found = read_correction(statement.text)
    return found or Correction(statement.text, is_plain=True, is_certain=True, is_order=False)


def read_correction(text: str) -> Correction | None:
    """Return what a text says behind words of correction, None without them."""
    if len(text) > READ_CHARS or text.rstrip().endswith("?"):
        return None
    found = _WORDS.match(normalise(text))
    if found is None or not found.end():
        return _read_value(text)
    before = frozenset(bare_words(found["hesitating"]))
    meant = (found["meant"] or "").lower()
    is_plain = bool(meant) or _PLAINLY.search(found["hesitating"]) is not None
    is_plain = is_plain or {"no", "wait"} <= before
    if not is_plain and (_TURNING.isdisjoint(before) or before == {"oh", "no"}):
        return None
    is_certain = is_plain or not _CERTAIN.isdisjoint(before)
    is_order = meant.split(" ")[0] in _ORDERS
    return Correction(text[found.end() :], is_plain, is_certain, is_order)


def _read_value(text: str) -> Correction | None:
    """Return the value that stands before words of correction, None for none."""
    found = _BEHIND_VALUE.match(normalise(text))
    if found is None:
        return None
    value = text[: found.end("value")]
    correction = Correction(value, is_plain=False, is_certain=True, is_order=False)
    return correction if correction.is_value else None


def only_hesitates(text: str) -> bool:
    """Return whether a sentence has only words that hesitate: "Oh wait."."""
    found = _WORDS.match(normalise(text[:READ_CHARS]))
    return found is not None and found.end() == len(text)
