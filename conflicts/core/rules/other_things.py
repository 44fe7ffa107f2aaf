"""Reasons why two texts in other words speak of two things, two audiences or two events."""

from __future__ import annotations

import re
from typing import Final

from conflicts.core.conditions import are_day_parts
from conflicts.core.rules.pair import FactPair
from conflicts.core.siblings import pairs_of
from conflicts.core.statements import Statement
from memories.core.forecasts import are_forecast_and_outcome
from memories.core.function_words import words_of
from memories.core.lexicon import concept_of

_NUMBERED: Final = re.compile(
    r"\b(?P<noun>[A-Za-z][a-z-]{2,30})\s(?P<number>[A-Z]?\d{1,6}[A-Za-z]?)\b"
)
# "Platform 2 is the one that …" gives a value first.
_OPENING: Final = re.compile(
    r"(?:The\s)?(?P<noun>[A-Za-z]{2,30})\s(?P<number>\d{1,4}[a-z]?)\b(?!\sis\s(?:the|where|used)\b)"
)
_BEGINNINGS: Final = frozenset(map(concept_of, words_of("arrive enter board land begin start")))
_ENDS: Final = frozenset(map(concept_of, words_of("depart leave exit finish end")))


def are_of_other_things(pair: FactPair) -> bool:
    """Return whether the texts name two things, or what each is said for differs."""
    return (
        pair.are_siblings
        or are_day_parts(pair.a, pair.b)
        or _is_for_others(pair.a, pair.b)
        or _open_with_other_numbers(*pair.texts)
        or _is_numbered(*pair.texts)
        or _is_numbered(*reversed(pair.texts))
        or are_forecast_and_outcome(*pair.texts)
        or _is_other_end(pair.a, pair.b)
        or _is_other_end(pair.b, pair.a)
    )


def _is_for_others(a: Statement, b: Statement) -> bool:
    """Return whether each text says for whom, and the other does not: "for toddlers"."""
    mine, theirs = _led_by_for(a), _led_by_for(b)
    return bool(mine - b.stems and theirs - a.stems)


def _open_with_other_numbers(a: str, b: str) -> bool:
    """Return whether both texts begin with one noun, numbered differently: "Van 12's service"."""
    mine, theirs = _OPENING.match(a), _OPENING.match(b)
    if not mine or not theirs or mine["noun"].lower() != theirs["noun"].lower():
        return False
    return mine["number"] != theirs["number"]


def _is_numbered(a: str, b: str) -> bool:
    """Return whether one text numbers what the other describes: "Ward 4B", "the day ward"."""
    described = {noun: word for word, noun in pairs_of(b)}
    return any(
        match["noun"].lower() in described
        and match["number"].lower() not in b.lower()
        and described[match["noun"].lower()] not in a.lower()
        for match in _NUMBERED.finditer(a)
    )


def _led_by_for(statement: Statement) -> frozenset[str]:
    return frozenset(
        term.key
        for claim in statement.reading.claims
        for term in claim.terms
        if term.prep == "for" and term.kind in ("word", "name")
    )


def _is_other_end(a: Statement, b: Statement) -> bool:
    """Return whether one text tells of a beginning and the other of an end: "enters", "leaves"."""
    return (
        not _BEGINNINGS.isdisjoint(a.stems)
        and not _ENDS.isdisjoint(b.stems)
        and _ENDS.isdisjoint(a.stems)
        and _BEGINNINGS.isdisjoint(b.stems)
    )
