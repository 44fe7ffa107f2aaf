"""Words that narrow a claim to one environment, platform, plan, season or group.

Two claims that name different members of one family speak of different things.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_FAMILIES: Final[tuple[tuple[str, ...], ...]] = (
    (r"prod(?:uction)?|live", r"staging|stage", r"dev(?:elopment)?|local(?:ly)?|laptop", r"preview",
     r"demo|sandbox", r"ci|test(?:ing)?\s+(?:env\w*|cluster|stack)", r"qa"),
    (r"ios|iphone|ipad", r"android", r"web|browser|desktop", r"windows", r"macos|mac", r"linux"),
    (r"premium|business|enterprise", r"basic|starter|free", r"pro|team|growth", r"standard"),
    (r"express", r"standard|normal|regular"),
    (r"weekdays?|monday|tuesday|wednesday|thursday", r"weekends?|saturday|sunday"),
    (r"summer", r"winter"),
    (r"q1", r"q2", r"q3", r"q4"),
    (r"eu|europe(?:an)?", r"us|usa|america|american", r"uk|britain", r"asia|apac"),
    (r"client|customer|guest", r"staff|employee|internal"),
    (r"arm\s+a", r"arm\s+b", r"arm\s+c"),
    (r"primary", r"secondary", r"replica"),
    (r"office", r"warehouse", r"home", r"remote"),
    (r"inbound|incoming", r"outbound|outgoing"),
)  # fmt: skip
_COMPILED: Final = tuple(
    tuple(re.compile(rf"\b(?:{word})\b", re.IGNORECASE) for word in family) for family in _FAMILIES
)


@lru_cache(maxsize=32768)
def qualifiers(text: str) -> frozenset[tuple[int, int]]:
    """Return (family, member) of every narrowing word in ``text``."""
    return frozenset(
        (family, member)
        for family, members in enumerate(_COMPILED)
        for member, pattern in enumerate(members)
        if pattern.search(text)
    )
