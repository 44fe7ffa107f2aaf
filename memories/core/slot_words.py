"""Names, things and attributes in a sentence that gives a thing the value of an attribute."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memories.core.function_words import DETERMINERS, PRONOUNS, words_of
from memories.core.lexicon import concept_of
from memories.core.slot_types import PLACE, Thing
from memories.core.tokeniser import stem

NAME: Final = re.compile(r"[A-Z0-9][\w&.'’/+-]*")
ARTICLES: Final = words_of("the its their our his her")
IN_NAMES: Final = words_of("of de van von der la le the and &")
_IN_TITLES: Final = IN_NAMES | words_of("in on at for with from to a an")  # "Winter in Quillan"
# Words beside the noun of an attribute that do not make it another one.
IDLE: Final = words_of("head current official present name city place main sole")
LINKS: Final = words_of("of in for at by to on")
_CLASS: Final = re.compile(r"[a-z-]{2,30}")
POSSESSIVE: Final = re.compile(r"(?:['’]s|(?<=s)['’])$")
# What one agent does: who founds, makes, writes, owns or leads.
BY: Final = frozenset(
    map(
        stem,
        words_of(
            "founded directed composed designed written published owned manufactured developed"
            " discovered coached edited employed built invented painted led managed chaired"
            " headed authored created produced established performed recorded commissioned"
            " sculpted drawn sung broadcast approved captained curated supervised conducted"
            " moderated audited taught played"
        ),
    )
)
_BASES: Final = {"written": "write", "built": "build", "led": "lead", "drawn": "draw",
                 "sung": "sing"}  # fmt: skip
_ONE_VERB: Final = {"head": "lead"}  # two verbs that say the same of a group
PAST: Final = {"wrote": "written", "writes": "written", "drew": "drawn", "sang": "sung",
               "builds": "built", "leads": "led"}  # fmt: skip
# Nouns that say what such a verb says: "author" is who writes.
_NOUNS: Final = {
    "author": "by write", "writer": "by write", "architect": "by design", "birthplace": "birth",
    "home": "residence", "citizen": "citizenship", "wife": "spouse", "husband": "spouse",
    "coach": "by coach", "ceo": "chief execut", "owner": "by own", "chair": "by chair",
    "chairperson": "by chair", "chairman": "by chair", "chairwoman": "by chair",
    "publication": stem("published"), "foundation": stem("founded"), "opening": "open",
    "subsidiary": "by own", "release": "version", "location": PLACE, "job": "profession",
    "occupation": "profession", "vendor": "supplier", "physician": "doctor",
    "captain": "by captain", "head": "by lead", "leader": "by lead", "conductor": "by conduct",
    "license": "licence", "seating": "capacity",
}  # fmt: skip
_PHRASES: Final = {"mother tongue": "native language", "first language": "native language",
                   "native speaker": "native language", "head office": "headquarters",
                   "owning team": "owner", "parent company": "owner", "ip address": "address",
                   "boss": "manager", "attending physician": "doctor", "line manager": "manager",
                   "primary database": "database", "main database": "database",
                   "data store": "database", "storage place": "location",
                   "storage location": "location", "home ground": "stadium",
                   "home stadium": "stadium", "phone extension": "extension",
                   "country citizenship": "citizenship", "taxonomic family": "family",
                   "maximum capacity": "capacity", "seating capacity": "capacity"}  # fmt: skip
_YEARS: Final = words_of("year date")
# Words of a description that another one may fill at the same time, or next week.
ONE_OF_MANY: Final = words_of(
    "next last latest first today's tomorrow's yesterday's deputy acting interim former previous"
    " best second other backup"
)
_MAX_WORDS: Final = 5  # of an attribute
_NOT_NAMED: Final = PRONOUNS | DETERMINERS - {"a", "an", "the"}  # "It lies in Remol"
_MAX_COMMON: Final = 8  # words of a thing without a name
_ACRONYM: Final = re.compile(r"[A-Z]{2,4}s?")
_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{1,39}")


def base_of(word: str) -> str:
    """Return the key of a verb of one agent: "wrote" and "written" are "write"."""
    participle = PAST.get(word, word)
    base = _BASES.get(participle, stem(participle))
    return _ONE_VERB.get(base, base)


def attribute_of(words: Sequence[str]) -> str:
    """Return the key of an attribute, the same for a noun and the verb it is made of.

    "" for what several may be at once, or one after the other: "the next speaker".
    """
    lowers = [word.lower() for word in words if word.lower() not in {*LINKS, *ARTICLES}]
    if not lowers or len(lowers) > _MAX_WORDS or not all(map(str.isalpha, lowers)):
        return ""
    lowers = _PHRASES.get(" ".join(lowers), " ".join(lowers)).split()
    if lowers[0] in _YEARS and len(lowers) > 1:  # "year of first publication"
        lowers = [word for word in lowers[1:] if word != "first"] or lowers
    if not ONE_OF_MANY.isdisjoint(lowers):
        return ""
    if lowers[-1] in _YEARS and len(lowers) > 1:
        return stem(lowers[-2])
    if lowers[-1] == "officer":  # "chief executive"
        lowers = lowers[:-1] or lowers
    kept = [word for word in lowers[:-1] if word not in IDLE] + lowers[-1:]
    return " ".join(map(concept_of, kept)) if len(kept) > 1 else _key_of(kept[0])


def _key_of(noun: str) -> str:
    """Return the key of an attribute of one noun, that of its verb where it names an agent."""
    if noun in _NOUNS:
        return _NOUNS[noun]
    if noun.endswith(("er", "or")):
        verbs = [stem(noun[:-2]), stem(noun[:-1])]  # "employer", "composer"
        return next((f"by {verb}" for verb in verbs if verb in BY), noun)
    return noun


def thing_of(words: Sequence[str]) -> Thing:
    """Return a named thing, without the noun before its name: "the novel Fraim".

    Nothing where other words belong to the name: "Tank alpha", "ticket #5", "checkout API", "the
    nursery class at Remol".
    """
    is_definite = bool(words) and words[0].lower() in ARTICLES
    kept = list(words[is_definite:])
    before = after = ""
    while kept and _CLASS.fullmatch(kept[0]):
        if kept[0] in LINKS:
            return Thing()
        before = kept.pop(0)
    if before and len(kept) == 1:
        if any(map(str.isdigit, kept[0])):  # "tenant 4471", "crate A-17"
            return Thing(frozenset([before, kept[0].lower()]))
        if _ACRONYM.fullmatch(kept[0]):
            return Thing()
    if is_definite and len(kept) > 1 and _CLASS.fullmatch(kept[-1]):  # "the Tol tower"
        after = kept.pop()
    if not all(NAME.fullmatch(word) or word in _IN_TITLES for word in kept):
        return Thing()
    found = frozenset(word.lower() for word in kept if NAME.fullmatch(word)) - ARTICLES
    if not found.isdisjoint(_NOT_NAMED) or all(map(str.isdigit, found)):
        return Thing()
    return Thing(found, after)


def common_thing_of(words: Sequence[str]) -> Thing:
    """Return the concepts of a definite thing without a name: "the seals of the K3 housing"."""
    if len(words) < 2 or words[0].lower() not in ARTICLES or len(words) > _MAX_COMMON:
        return Thing()
    kept = [word.lower() for word in words if word.lower() not in {*LINKS, *ARTICLES}]
    if not all(map(_PLAIN.fullmatch, kept)):
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
