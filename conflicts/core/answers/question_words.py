"""Read the content words of a question: nouns, names, numbers, periods, words before nouns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from conflicts.core.apart import IDLE_MODIFIERS
from memories.core.calendar_words import MONTHS, SEASONS, WEEKDAYS
from memories.core.number_words import NUMBER_WORDS
from memories.core.reading import read_cached
from memories.core.topic_words import names, stems, tokens

_KEPT: Final = 8192
_WHICH: Final = frozenset({"which", "what"})
_WORDS: Final = frozenset({"may", "march", "fall", "sun", "sat", "mar", "wed"})
_NEGATION: Final = re.compile(r"\b(?:no|not|never|n't)\b", re.IGNORECASE)
# "Which one", "one of", "no one" count nothing.
_NUMBER: Final = re.compile(
    r"\d+(?:[.,:]\d+)*|"
    rf"\b(?:{'|'.join(sorted(NUMBER_WORDS.keys() - {'one', 'half'}))})\b|"
    r"(?<=\w{4}\s)(?<!\bevery\s)one\b(?!\sof\b)",
    re.IGNORECASE,
)
# Months that are words as well ("may", "march") count with a capital only.
_CALENDAR: Final = re.compile(
    rf"\b(?:{'|'.join(word for word in (*MONTHS, *WEEKDAYS, *SEASONS) if word not in _WORDS)})s?\b|"
    rf"(?-i:{'|'.join(word.capitalize() for word in sorted(_WORDS))})\b",
    re.IGNORECASE,
)
_ORDER: Final = re.compile(
    r"\b(?:before|after|during|until|since|first|last|next|previous|primary|secondary|second|third|"
    r"minimum|maximum|min|max|least|most|earliest|latest)\b",
    re.IGNORECASE,
)

_SAME_ORDER: Final = {"until": "before", "max": "maximum", "min": "minimum"}


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The content words of a question: stems, those of nouns, names, and words before nouns."""

    stems: frozenset[str]
    nouns: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    calendar: frozenset[str]
    order: frozenset[str]
    parts: tuple[tuple[str, frozenset[str]], ...]
    is_negated: bool


@lru_cache(maxsize=_KEPT)
def words_of_question(question: str) -> QuestionWords:
    """Return the words of a question; kept, because many facts may answer it."""
    found = frozenset(stems(question))
    terms = [term for claim in read_cached(question).claims for term in claim.terms]
    verbs = {term.key for term in terms if term.is_verb}
    before: dict[str, set[str]] = {}
    for modifier, noun in pairwise(tokens(question)):
        for stem in stems(noun) if modifier.lower() not in IDLE_MODIFIERS else ():
            before.setdefault(stem, set()).update(stems(modifier))
    return QuestionWords(
        found,
        found - verbs,
        names(question),
        frozenset(map(_as_digits, _NUMBER.findall(question))),
        # "May" that opens a question is no month.
        frozenset(match[0].lower().rstrip("s") for match in _CALENDAR.finditer(question, 1)),
        frozenset(
            _SAME_ORDER.get(word := match[0].lower(), word) for match in _ORDER.finditer(question)
        ),
        tuple((noun, frozenset(modifiers)) for noun, modifiers in sorted(before.items())),
        bool(_NEGATION.search(question)),
    )


def _as_digits(number: str) -> str:
    """Return a number in digits: "two" is "2"."""
    value = NUMBER_WORDS.get(number.lower())
    return number if value is None else f"{value:g}"


def common_nouns(a: str, b: str) -> frozenset[str]:
    """Return the stems that both questions have, and that are no verb in either."""
    return words_of_question(a).nouns & words_of_question(b).nouns


def only_adds_nouns(a: str, b: str) -> bool:
    """Return whether question `b` has nouns that `a` lacks, and lacks none of those of `a`."""
    mine, theirs = words_of_question(a).nouns, words_of_question(b).nouns
    return mine < theirs


def names_its_thing(a: str, b: str) -> bool:
    """Return whether question `b` is `a` with nouns: "our address", "the address of the shop"."""
    mine, theirs = words_of_question(a), words_of_question(b)
    return (
        bool(mine.stems)
        and mine.stems <= theirs.stems
        and (theirs.stems - mine.stems <= theirs.nouns)
    )


def ask_of_two_things(a: str, b: str) -> bool:
    """Return whether two questions differ in one word: "Who signs leases?", "Who signs checks?".

    What "which" asks for may have two names: "which queue", "which broker".
    """
    mine, theirs = tokens(a.lower()), tokens(b.lower())
    differing = [at for at, (x, y) in enumerate(zip(mine, theirs, strict=False)) if x != y]
    if len(mine) != len(theirs) or len(differing) != 1 or not differing[0]:
        return False
    at = differing[0]
    is_asked_for = not _WHICH.isdisjoint(mine[max(0, at - 2) : at])
    return not is_asked_for and stems(mine[at]) != stems(theirs[at])
