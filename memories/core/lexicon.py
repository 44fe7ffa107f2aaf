"""Look up synonyms, antonyms, and kinds whose members exclude each other.

Curated and general. Synonyms only where one word can replace the other in nearly every
memory ("delete", "remove"); antonyms only where both cannot be true of one thing at one time.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from memories.core import meanings
from memories.core.kinds import OTHER_KINDS, PRODUCT_KINDS
from memories.core.vocabulary import lemma

# "A owns B" is "B belongs to A": verb and preposition of the side that is turned round.
CONVERSES = {"belong": ("own", "to"), "come": ("suppli", "from"), "origin": ("suppli", "from")}


def _classes() -> dict[str, str]:
    concepts: dict[str, str] = {}
    for line in meanings.SYNONYMS.strip().splitlines():
        first, *others = (lemma(word) for word in line.split())
        for other in (first, *others):
            concepts.setdefault(other, concepts.get(first, first))
    return concepts


_CONCEPTS = _classes()


def concept(lemma_: str) -> str:
    """Return the common key of a lemma and its synonyms."""
    return _CONCEPTS.get(lemma_, lemma_)


def concept_of(word: str) -> str:
    """Return the key of a lower-case word."""
    return concept(lemma(word))


def by_concept(words: Iterable[str]) -> dict[str, str]:
    """Return words as they are written by their keys, the first of each key."""
    found: dict[str, str] = {}
    for word in words:
        found.setdefault(concept_of(word.lower()), word)
    return found


def _concepts(words: str) -> frozenset[str]:
    return frozenset(concept_of(word) for word in words.split())


def _opposites() -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    found: dict[str, set[str]] = {}
    graded: set[str] = set()
    for line in meanings.ANTONYMS.strip().splitlines():
        sides = [side.split() for side in line.split("|")]
        left, right = ({concept_of(word.rstrip("~")) for word in side} for side in sides)
        if "~" in line:
            graded |= left | right
        for word in left:
            found.setdefault(word, set()).update(right - left)
        for word in right:
            found.setdefault(word, set()).update(left - right)
    return {word: frozenset(others) for word, others in found.items()}, frozenset(graded)


OPPOSITES, GRADED = _opposites()
KINDS: dict[str, frozenset[str]] = {}
for _kind, _members in (PRODUCT_KINDS | OTHER_KINDS).items():
    for _member in _members.split():
        _key = concept_of(_member)
        KINDS[_key] = KINDS.get(_key, frozenset()) | {_kind}
_PRODUCTS = frozenset(key for key, kinds in KINDS.items() if kinds & PRODUCT_KINDS.keys())
FUNCTIONAL = _concepts(meanings.FUNCTIONAL)
EXCLUSIVE_OBJECT = {
    concept_of(verb): frozenset(preps.split()) or frozenset([""])
    for verb, preps in meanings.EXCLUSIVE_OBJECT.items()
}
EXCLUSIVE_SUBJECT = _concepts(meanings.EXCLUSIVE_SUBJECT)
INCLUSIVE = _concepts(meanings.INCLUSIVE)
CLOSING = _concepts(meanings.CLOSING)
DENYING = _concepts("forbid exclude refuse disallow abolish")  # negate what they are said of
REFUSING = DENYING | _concepts("reject block decline fail")  # what lies over a limit
SYMMETRIC = _concepts(meanings.SYMMETRIC)
_LIKE_VERBS: dict[str, frozenset[str]] = {}
for _line in meanings.INTERCHANGEABLE.strip().splitlines():
    for _verb in (_verbs := _concepts(_line)):
        _LIKE_VERBS[_verb] = _LIKE_VERBS.get(_verb, frozenset()) | _verbs


def interchangeable(verb: str, other: str) -> bool:
    """Return True for two verbs whose difference does not change a claim ("run", "host")."""
    return other in _LIKE_VERBS.get(verb, ())


_NEGATIVE_PREFIXES = ("un", "non", "dis", "im", "ir", "il")
_MIN_DENIED = 4  # letters of a word that a prefix may deny
_MAX_KEPT = 64  # characters of a key whose opposites are kept


def opposites_of(key: str) -> frozenset[str]:
    """Return the concepts that exclude this one ("enable", "disable"; "signed", "unsigned")."""
    return _kept_opposites_of(key) if len(key) <= _MAX_KEPT else _opposites_of(key)


def _opposites_of(key: str) -> frozenset[str]:
    found = set(OPPOSITES.get(key, ()))
    for prefix in _NEGATIVE_PREFIXES:
        if len(key) >= _MIN_DENIED:
            found.add(prefix + key)
        if key.startswith(prefix) and len(key) - len(prefix) >= _MIN_DENIED:
            found.add(key[len(prefix) :])
    return frozenset(found)


_kept_opposites_of = lru_cache(maxsize=16384)(_opposites_of)


def is_product(concept_: str) -> bool:
    """Return True for names of software and formats ("postgres", "json")."""
    return concept_ in _PRODUCTS
