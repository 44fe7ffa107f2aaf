"""Whether two texts tell of one deed: "notes are written by hand", "notes are published …".

Ways that exclude each other do so only of one thing and of one deed.
"""

from __future__ import annotations

from typing import Final

from conflicts.core.statements import Statement
from memories.core.claims import Claim
from memories.core.exclusions import is_of_family
from memories.core.lexicon import concept_of

_MAX_PAIRS: Final = 2500  # of claims that are set side by side
# What is done with such a verb stands in its object, if anywhere.
_LIGHT: Final = frozenset(
    map(
        concept_of,
        ("be", "have", "do", "make", "get", "give", "take", "go", "come", "run", "use", "happen",
         "work", "start", "begin", "put", "need", "may", "can", "must"),
    )
)  # fmt: skip


def are_other_deeds(a: Statement, b: Statement, family: str) -> bool:
    """Whether what the texts say in a family of ways is said of two things, or of two deeds."""
    mine, theirs = _telling(a, family), _telling(b, family)
    if len(mine) * len(theirs) > _MAX_PAIRS:
        return True  # texts of so many claims are of many things
    return all(
        _is_part(one, other, b) or _is_part(other, one, a) or _does_other(one, other, family)
        for one in mine
        for other in theirs
    )


def _telling(statement: Statement, family: str) -> list[Claim]:
    """Return the claims of a text that take a side in the family, all if none does alone."""
    claims = statement.reading.claims
    return [claim for claim in claims if is_of_family(claim.text, family)] or list(claims)


def _subject(claim: Claim, *, is_led: bool = False) -> list[str]:
    """Words of a subject, or those that a preposition leads: "the menu at the bistro"."""
    return [
        term.key
        for term in claim.terms
        if term.region == "subject" and term.kind in ("word", "name") and bool(term.prep) == is_led
    ]


def _is_part(one: Claim, whole: Claim, text: Statement) -> bool:
    """Whether a claim is of something of the other's thing: its bar, the menu at it."""
    subject, thing = _subject(one), _subject(whole)
    if not subject or not thing or subject[-1] in text.stems:
        return False
    return set(thing) <= set(_subject(one, is_led=True)) or thing[-1:] == subject[-2:-1]


def _does_other(one: Claim, other: Claim, family: str) -> bool:
    """Whether two claims say of one thing that something else is done."""
    mine, theirs = _subject(one), _subject(other)
    if not mine or not theirs or mine[-1] != theirs[-1]:
        return False
    deeds = _deed(one, family), _deed(other, family)
    return all(deeds) and deeds[0].isdisjoint(deeds[1])


def _deed(claim: Claim, family: str) -> frozenset[str]:
    """The verb and its objects, without what only tells in which way."""
    return frozenset(
        term.key
        for term in claim.terms
        if term.region == "predicate"
        and not term.prep
        and term.kind in ("word", "name")
        and term.key not in _LIGHT
        and not is_of_family(term.text, family)
    )
