"""Names and things in a sentence that gives a thing the value of an attribute."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memories.core.code_names import CODE
from memories.core.function_words import DETERMINERS, FUNCTION_WORDS, PRONOUNS, words_of
from memories.core.lexicon import concept_of
from memories.core.slot_types import Thing

NAME: Final = re.compile(r"(?:[A-Z0-9]|v(?=\d)|[a-z]{1,4}[A-Z](?=[A-Za-z]))[\w&.'’/+-]*")  # "iOS"
NUMBER: Final = re.compile(r"\d[\d.,]*")
ARTICLES: Final = words_of("the its their our his her")
IN_NAMES: Final = words_of("of de da di del du des dos van von der ten la le el al bin the and &")
_IN_TITLES: Final = IN_NAMES | words_of("in on at for with from to a an")  # "Winter in Quillan"
LINKS: Final = words_of("of in for at by to on")
_CLASS: Final = re.compile(r"[a-z-]{2,30}")
POSSESSIVE: Final = re.compile(r"(?:['’]s|(?<=s)['’])$")
_NOT_NAMED: Final = PRONOUNS | DETERMINERS - {"a", "an", "the"}  # "It lies in Remol"
_MAX_COMMON: Final = 8  # words of a thing without a name
_MAX_DATE: Final = 3  # words of "3 March 1904"
_MAX_BARE: Final = 3  # of one without an article
_ACRONYM: Final = re.compile(r"[A-Z]{2,4}s?")
_CODE: Final = re.compile(CODE)
# Nouns whose number or name says who or what is spoken of, and no place or choice.
IDENTIFIED: Final = words_of(
    "patient tenant customer client user account container parcel vehicle employee student pupil"
    " member guest"
)
_PLACE_NOUNS: Final = words_of("town city village")  # "the province of Remol" is another thing
_SOFTWARE: Final = words_of("service app api server host")  # no part of it, as "queue" is
_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{1,39}")


def thing_of(words: Sequence[str]) -> Thing:
    """Return a named thing, without the noun before its name: "the novel Fraim".

    Nothing where other words belong to the name: "Tank alpha", "ticket #5", "checkout API", "the
    nursery class at Remol".
    """
    if coded := _coded_thing(words):
        return coded
    is_definite = bool(words) and words[0].lower() in ARTICLES
    is_titled = len(words) > 1 and not is_definite and words[0].lower() in IDENTIFIED
    if is_definite and len(words) > 3 and words[1] in _PLACE_NOUNS and words[2] == "of":
        words = [words[0], *words[3:]]  # "the town of Marnsted"
    kept = list(words[is_definite or (is_titled and not any(map(str.isdigit, words[1]))) :])
    before = after = ""
    while kept and _CLASS.fullmatch(kept[0]):
        if kept[0] in LINKS:
            return Thing()
        before = kept.pop(0)
    if before and len(kept) == 1 and any(map(str.isdigit, kept[0])):
        return Thing(frozenset([before, kept[0].lower()]))  # "tenant 4471", "crate A-17"
    is_acronym = bool(before) and len(kept) == 1 and _ACRONYM.fullmatch(kept[0])
    if is_definite and len(kept) > 1 and _CLASS.fullmatch(kept[-1]):  # "the Tol tower"
        after = kept.pop()
    if is_acronym or not all(NAME.fullmatch(word) or word in _IN_TITLES for word in kept):
        return Thing()
    found = frozenset(word.lower() for word in kept if NAME.fullmatch(word)) - ARTICLES
    if not kept or all(map(str.isdigit, found)) or _is_pronoun(kept):
        return Thing()
    return Thing(found, after, written=" ".join(kept))


def _coded_thing(words: Sequence[str]) -> Thing:
    """Return a thing with a name in lower case: "ledger-sync", "the ledger-sync service"."""
    if len(words) == 1 and _CODE.fullmatch(words[0]):
        return Thing(frozenset([_folded(words[0])]))
    if len(words) == 2 and words[0].lower() in _SOFTWARE and _CODE.fullmatch(words[1]):
        return Thing(frozenset([_folded(words[1])]), words[0].lower())  # "server hal-db-02"
    is_classed = len(words) == 3 and words[0].lower() in ARTICLES and words[2] in _SOFTWARE
    if is_classed and _CODE.fullmatch(words[1]):
        return Thing(frozenset([_folded(words[1])]), words[2])
    return Thing()


def _folded(code: str) -> str:
    """Return a code in one spelling: "ledger_sync" is "ledger-sync"."""
    return code.replace("_", "-")


def _is_pronoun(words: Sequence[str]) -> bool:
    """Return whether words begin with a pronoun: "It", "Our API", no titles ("One Piece")."""
    first = words[0].lower()
    return first in _NOT_NAMED and not (first == "one" and len(words) > 1)


def common_thing_of(words: Sequence[str]) -> Thing:
    """Return the concepts of a definite thing without a name: "the seals of the K3 housing"."""
    if len(words) < 2 or words[0].lower() not in ARTICLES or len(words) > _MAX_COMMON:
        return Thing()
    kept = [word.lower() for word in words if word.lower() not in {*LINKS, *ARTICLES}]
    if not all(map(_PLAIN.fullmatch, kept)):
        return Thing()
    return Thing(frozenset(map(concept_of, kept)), is_named=False)


def bare_thing_of(words: Sequence[str]) -> Thing:
    """Return the concepts of common nouns without an article: "heavy metal"."""
    kept = [word.lower() for word in words]
    is_plain = 0 < len(kept) <= _MAX_BARE and all(map(_CLASS.fullmatch, kept))
    if not is_plain or not FUNCTION_WORDS.isdisjoint(kept):
        return Thing()
    return Thing(frozenset(map(concept_of, kept)), is_named=False)


def runs_of_names(words: Sequence[str], start: int) -> list[tuple[int, int]]:
    """Return first and last position of each name from a position on: "Guild of Ostrian Bakers".

    Names with words of titles between them are one.
    """
    runs: list[tuple[int, int]] = []
    for at in range(start, len(words)):
        if not NAME.fullmatch(words[at]):
            continue
        between = words[runs[-1][1] + 1 : at] if runs else ()
        if runs and len(between) <= 2 and all(word in _IN_TITLES for word in between):
            runs[-1] = runs[-1][0], at
        else:
            runs.append((at, at))
    return runs


def is_name_phrase(words: Iterable[str]) -> bool:
    """Return whether words are a name, at most with an article and a noun that classes it."""
    found = list(words)
    plain = [word for word in found if not NAME.fullmatch(word) and word not in _IN_TITLES]
    return len(plain) <= 1 and any(map(NAME.fullmatch, found))


def is_year(words: Sequence[str]) -> bool:
    """Return whether words are a year and nothing else."""
    return len(words) == 1 and words[0].isdigit() and len(words[0]) == 4


def is_time(words: Sequence[str]) -> bool:
    """Return whether words are a year, with or without the day before it."""
    return bool(words) and len(words) <= _MAX_DATE and is_year(words[-1:])
