"""Reasons why two claims that exclude each other stand in texts that do not.

The first sentence of a text introduces its thing, and names tell things apart: "Delivery notes are
kept ten years; originals are not needed" and "Employment contracts are kept ten years; originals
are needed". A text that announces a change tells what held before and what holds now.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from memories.core.calendar_words import MONTH_PATTERN, WEEKDAY_PATTERN
from memories.core.cases import HEADINGS, Contradiction
from memories.core.claim_types import Reading, Term
from memories.core.spelling import collapse

_OF_AGENTS: Final = frozenset[Contradiction](["owner", "roles"])  # the subject is the value
# Ways in which the names themselves are the values that differ.
_OF_NAMES: Final = frozenset[Contradiction](
    ["one-at-a-time", "owner", "choice", "moved-away", "label", "roles", "direction", "denial"]
)
_CHANGES: Final = frozenset(["switch", "return"])
_HEADING: Final = re.compile(r"[^:.;,]{1,60}:(?=\s)")
_GONE: Final = re.compile(r"\b(?:no\slonger|any\s?more|stopped|instead)\b", re.IGNORECASE)
_DATE: Final = (
    rf"(?:{WEEKDAY_PATTERN}|\d{{1,2}}\.?\s{MONTH_PATTERN}|{MONTH_PATTERN}|\d{{4}}\b|"
    r"now\son|next\s\w+|this\s\w+|today|tomorrow)"
)
_FROM_THEN_ON: Final = re.compile(
    rf"(?:^|,\s)(?:from|as\sof|as\sfrom|since|starting|effective|beginning)\s"
    rf"(?:in\s|on\s|from\s|with\s|the\s){{0,2}}{_DATE}(?!\s(?:to|until|till|through)\b)|"
    rf"\bfrom\s(?:\d{{1,2}}\.?\s{MONTH_PATTERN}|{MONTH_PATTERN}\s\d{{1,2}}|now\son|next\s\w{{1,20}})"
    r"(?!\s(?:to|until|till|through)\b)|"
    r"\b(?:than|as)\sbefore\b|,\s(?:cut|raised|lowered|reduced|increased|up|down)\sfrom\b|"
    r"\bused\sto\s(?:be|have)\b",
    re.IGNORECASE,
)


def other_topic(a: Reading, b: Reading, way: Contradiction | None) -> str:
    """Return a reason when two texts are about different things, else ""."""
    if way not in _OF_AGENTS:
        left, right = alone(leads_of(a), b), alone(leads_of(b), a)
        if left and right:
            return _reason(left, right)
    if way in _OF_NAMES:
        return ""
    return other_names(a, b)


def other_names(a: Reading, b: Reading) -> str:
    """Return a reason when either text has a name that the other does not mention, else ""."""
    left, right = alone(names_of(a), b), alone(names_of(b), a)
    return _reason(left, right) if left and right else ""


def announces_change(reading: Reading) -> bool:
    """Return whether a text says that something else held before."""
    if _FROM_THEN_ON.search(collapse(reading.text)):
        return True
    return any(
        claim.transition.kind in _CHANGES or _GONE.search(claim.transition.text)
        for claim in reading.claims
        if claim.transition is not None
    )


def _reason(left: list[Term], right: list[Term]) -> str:
    one, other = (" ".join(term.written for term in terms[:3]) for terms in (left, right))
    return f"other subject: {one} vs {other}"


def alone(terms: Iterable[Term], other: Reading) -> list[Term]:
    """Return the terms that another text does not mention."""
    text = other.text.lower()
    keys = {term.key for claim in other.claims for term in claim.terms}
    return [term for term in terms if term.key not in keys and term.text.lower() not in text]


def leads_of(reading: Reading) -> list[Term]:
    """Return what the first sentence is about: its heading and its subject."""
    first = reading.claims[:1]
    heading = _HEADING.match(reading.text)
    headed = heading[0].lower() if heading else ""
    return [
        term
        for claim in first
        for term in claim.terms
        if (term.region == "subject" or (headed and term.text.lower() in headed))
        and term.weight == 1
        and not term.is_verb
        and term.kind in ("word", "name", "label")
        and term.key not in HEADINGS
    ]


def names_of(reading: Reading) -> list[Term]:
    """Return the names of a text: identifiers, labels and capitalised words."""
    return [
        term
        for claim in reading.claims
        for term in claim.terms
        if term.kind in ("name", "label")
        and term.weight == 1
        and any(c.isupper() or c.isdigit() for c in term.text)
    ]
