"""Find which of two sources wins where they disagree: "the CRM is the master".

General English; the caller decides whether two texts are on one topic.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memories.core.function_words import DETERMINERS, PREPOSITIONS, PRONOUNS
from memories.core.lexicon import by_concept
from memories.core.reasons import Difference

_BEFORE: Final = r"(?<![\w'-])(?P<before>(?:[\w'-]++\s){1,4}?)"
_AFTER: Final = r"(?:the\s|our\s|its\s|their\s)?(?P<after>[\w-]+(?:\s[\w-]+)?)"
_WINS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_BEFORE}(?:is|are|stays?|remains?|counts?\sas|serves?\sas)\s(?:always\s)?(?:the\s|our\s)?"
        r"(?:master|leading|binding|authoritative|reference|(?:single\s)?source\sof\struth|truth|"
        r"system\sof\srecord)\b",
        rf"{_BEFORE}(?:wins?|prevails?|takes?\sprecedence|has\spriority|overwrites?|overrides?|overrules?)\b",
        rf"\b(?:overwritten|overridden|overruled|replaced|led)\s(?:by|from|with)\s{_AFTER}",
        rf"\b(?:take|takes|trust|believe|follow|use)\swhat\s{_AFTER}",
        rf"\b(?:changes|corrections|edits|updates)\s(?:belong|go|are\s(?:made|entered))\s(?:in|into)\s{_AFTER}",
    )
)  # fmt: skip
_LOSES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_BEFORE}(?:is|are|gets?|will\sbe)\s(?:overwritten|overridden|overruled|replaced)\b",
        rf"\b(?:pushed|copied|written|synced|sent)\s(?:in)?to\s{_AFTER}",
        rf"\b(?:overwrites?|overrides?|overrules?|over)\s(?:whatever\s)?{_AFTER}",
    )
)
_WORD: Final = re.compile(r"[A-Za-z][\w-]*")
_NO_NAMES: Final = DETERMINERS | PRONOUNS | PREPOSITIONS | frozenset(
    {"and", "or", "that", "what", "copy", "copies", "version", "value", "values", "had", "has",
     "says"}
)  # fmt: skip


def other_winner(a: str, b: str) -> str:
    """Return the sources that two texts rank in opposite order, "" when they do not."""
    (wins_a, loses_a), (wins_b, loses_b) = _order(a), _order(b)
    only_a, only_b = wins_a.keys() & loses_b.keys(), wins_b.keys() & loses_a.keys()
    if wins_a.keys() & wins_b.keys() or not (only_a and only_b):
        return ""
    left, right = min(only_a), min(only_b)
    return Difference(f"which one wins: {wins_a[left]} against {wins_b[right]}", left, right)


@lru_cache(maxsize=8192)
def _order(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the sources that win and those that lose: by concept, as written."""
    return _find_names(text, _WINS), _find_names(text, _LOSES)


def _find_names(text: str, patterns: tuple[re.Pattern[str], ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pattern in patterns:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            words = _WORD.findall(groups.get("before") or groups.get("after") or "")
            names = [word for word in words if word.lower() not in _NO_NAMES]
            nearest = names[-1:] if groups.get("before") else names[:1]
            found = by_concept(nearest) | found
    return found
