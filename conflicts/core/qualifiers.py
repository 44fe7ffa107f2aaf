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
_COMPILED: Final = tuple(
    tuple(re.compile(rf"\b(?:{word})\b", re.IGNORECASE) for word in family) for family in _FAMILIES
)


@lru_cache(maxsize=8192)
def qualifiers(text: str) -> frozenset[tuple[int, int]]:
    """Return (family, member) of every limiting word in ``text``."""
    return frozenset(
        (family, member)
        for family, members in enumerate(_COMPILED)
        for member, pattern in enumerate(members)
        if pattern.search(text)
    )
