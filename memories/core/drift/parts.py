"""Read statements as the words and values that they share with others, claim by claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memories.core.answers import Answer
from memories.core.claim_types import Claim, Term
from memories.core.dates import also_written
from memories.core.function_words import OPPOSED_PREPOSITIONS
from memories.core.reading import read_cached

VALUES: Final = frozenset(["quantity", "date", "version", "name", "label"])
VALUE_WEIGHT: Final = 2  # of a number, date or name, as against another word
# What a bound says is compared by claims; "at most 8" and "8" share the value.
_BOUND: Final = re.compile(r"^(?:most|least|about|over|under) | count$")


@dataclass(frozen=True, slots=True)
class Part:
    """One claim of a statement: its words by key, and what must be equal to say the same.

    `words` are as written, by key; `signature` has all that can change the meaning of the claim.
    """

    text: str
    words: Mapping[str, str]
    signature: tuple[object, ...]


@lru_cache(maxsize=4096)
def parts_of(text: str) -> tuple[Part, ...]:
    """Return the claims of a text."""
    return tuple(_part(claim) for claim in read_cached(text).claims)


def words_of(text: str) -> dict[str, str]:
    """Return the words and values of a text as they are written, by key, in order."""
    found: dict[str, str] = {}
    for part in parts_of(text):
        for key, written in part.words.items():
            found.setdefault(key, written)
    return found


def values_of(text: str) -> dict[str, str]:
    """Return the numbers, dates and names of a text as written, by key."""
    terms = [term for claim in read_cached(text).claims for term in claim.terms]
    return {key: term.written for term in terms if term.kind in VALUES for key in keys_of(term)}


def weights_of(text: str, answers: Iterable[Answer] = ()) -> dict[str, int]:
    """Return the weight of each word of a memory, by key; what it answers counts as a value."""
    found = {key: VALUE_WEIGHT for one in answers for key in words_of(one.answer)}
    for claim in read_cached(text).claims:
        for term in filter(_counts, claim.terms):
            weight = VALUE_WEIGHT if term.kind in VALUES else 1
            found[key_of(term)] = max(weight, found.get(key_of(term), 0))
    return found


def _part(claim: Claim) -> Part:
    words: dict[str, str] = {}
    for term in filter(_counts, claim.terms):
        for key in keys_of(term):
            words.setdefault(key, term.written)
    change = claim.transition.kind if claim.transition else ""
    signature = (
        claim.keys, claim.polarity, claim.modality, change, claim.force, claim.operators,
        tuple(word.key for word in claim.unread), claim.tense == "past", _order_of(claim.text),
    )  # fmt: skip
    return Part(claim.text, words, signature)


def _order_of(text: str) -> tuple[str, ...]:
    """Return the words of order and place that have an opposite; keys of terms leave them out."""
    return tuple(word for word in text.lower().split() if word in OPPOSED_PREPOSITIONS)


def _counts(term: Term) -> bool:
    return term.weight >= 1 or term.kind in VALUES


def keys_of(term: Term) -> tuple[str, ...]:
    """Return the key of a term, and those of other forms of a time."""
    return key_of(term), *(also_written(term.key) if term.kind == "date" else ())


def key_of(term: Term) -> str:
    """Return the key of a term; a bound is not a part of it."""
    if term.quantity is None:
        return term.key
    return _BOUND.sub("", _BOUND.sub("", term.key))
