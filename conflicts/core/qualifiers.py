"""Find words that limit a claim to one environment, platform, plan, season or group.

Two claims that name different members of one family speak of different things.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_FAMILIES: Final[tuple[tuple[str, ...], ...]] = (
    (r"prod(?:uction)?", r"staging", r"dev(?:elopment)?|local(?:ly)?|laptop", r"preview",
     r"demo|sandbox", r"ci", r"qa"),
    (r"ios|iphone|ipad", r"android", r"windows", r"macos", r"linux"),
    (r"premium|enterprise|business\s(?:plan|tier|customers?)",
     r"basic|starter|free\s(?:plan|tier)",
     r"(?:pro|team|growth)\s(?:plan|tier|customers?)"),
    (r"express", r"standard"),
    (r"weekdays?", r"weekends?"),
    (r"summer", r"winter"),
    (r"q1", r"q2", r"q3", r"q4"),
    (r"(?-i:EU)|europe(?:an)?|[-_/:]eu", r"(?-i:US)|usa|america|american|[-_/:]us",
     r"(?-i:UK)|britain|[-_/:]uk", r"asia|apac"),
    (r"arm\sa", r"arm\sb", r"arm\sc"),
    (r"primary", r"secondary"),
    (r"inbound|incoming", r"outbound|outgoing"),
)  # fmt: skip
# Two ends, times or groups that one thing has side by side. As answers they exclude each other
# ("at night", "by day"); in questions they ask for two things.
_SIDES: Final[tuple[tuple[str, ...], ...]] = (
    (r"starts?|started|begins?|began", r"ends?|ended|finish(?:es|ed)?|stops?"),
    (r"days?time|by\sday|day", r"nights?|nightly|at\snight"),
    (r"mornings?", r"afternoons?", r"evenings?"),
    (r"arriv(?:e|es|al|als)", r"depart(?:s|ure|ures)?|leaves?"),
    (r"domestic|inland|national", r"export|abroad|international|foreign"),
    (r"adults?|grown-ups?", r"children|child|kids?"),
    (r"phones?|mobiles?", r"tablets?", r"desktops?|laptops?"),
    (r"buy|buys|bought|purchases?", r"sells?|sold|sales?"),
    (r"sends?|sent", r"receives?|received"),
    (r"top|upper", r"bottom|lower"),
    (r"front", r"back|rear"),
    (r"left", r"right"),
    (r"indoors?|inside", r"outdoors?|outside"),
    (r"pick-?ups?|collections?", r"deliver(?:y|ies)|drop-?offs?"),
    (r"weekends?", r"weekdays?|weeknights?"),
)

Members = frozenset[tuple[int, int]]  # (family, member)
Compiled = tuple[tuple[re.Pattern[str], ...], ...]
_QUALIFIERS, _OF_QUESTIONS = (
    tuple(
        tuple(re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in family)
        for family in families
    )
    for families in (_FAMILIES, _SIDES)
)


@lru_cache(maxsize=8192)
def qualifiers(text: str) -> Members:
    """Return (family, member) of every limiting word in ``text``."""
    return _members(text, _QUALIFIERS)


@lru_cache(maxsize=8192)
def sides(question: str) -> Members:
    """Return (family, member) of every end, time or group that a question names."""
    return _members(question, _OF_QUESTIONS)


def name_other_members(mine: Members, theirs: Members) -> bool:
    """Return whether both have members of one family, and none of it in common."""
    shared = {family for family, _ in mine & theirs}
    both = {family for family, _ in mine} & {family for family, _ in theirs}
    return bool(both - shared)


def _members(text: str, families: Compiled) -> Members:
    return frozenset(
        (family, member)
        for family, members in enumerate(families)
        for member, pattern in enumerate(members)
        if pattern.search(text)
    )
