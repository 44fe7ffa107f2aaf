"""What a question asks for: a person, a place, a time, an amount, yes or no."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

Sort = Literal[
    "yes or no", "who", "where", "when", "how much", "how often", "how", "reason", "outcome",
    "topic", "which", "",
]  # fmt: skip

_KEPT: Final = 8192
_OPENING_CHARS: Final = 80
_SORTS: Final[dict[Sort, str]] = {
    "reason": r"why|what\s(?:caused|causes|is\sthe\s(?:cause|reason))|how\scome",
    "outcome": r"what\s(?:happens|happened|follows|comes\safter)",
    "topic": r"what\s(?:is|was|are|were)\s[^?]{1,60}\sabout",
    "who": r"who|whom|whose|(?:which|what)\s(?:person|team|role|people|group|department)",
    "where": r"where|(?:which|what)\s(?:place|room|city|site|country|location)",
    "when": r"when|(?:what|which)\s(?:is\sthe\s)?(?:due\s)?(?:times?|days?|dates?|weekdays?|"
    r"months?|year|week|hours|deadline)",
    "how often": r"how\s(?:often|frequently)",
    "how much": r"how\s(?:many|much|long|old|far|big|large|high|soon|fast|late|early|deep|wide|"
    r"tall|heavy|hot|cold|warm)|what\s(?:do|does|did|would|will)\s[^?]{1,60}\scosts?|"
    r"what\s(?:is|are|was|were)\sthe\s(?:[\w-]{1,30}\s){0,2}(?:price|cost|fee|charge|fare)s?",
    "how": r"how",
    "which": r"what|which",
    "yes or no": r"is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|should|shall|"
    r"will|would|need|needs|am",
}
_PATTERNS: Final = [
    (sort, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)) for sort, pattern in _SORTS.items()
]
# Sorts that people use for one another: "What is the limit", "How many are allowed".
_EXCHANGED: Final = frozenset(
    map(frozenset, (("which", "who"), ("which", "where"), ("which", "when"), ("which", "how much"),
                    ("which", "how"), ("how", "where"), ("how much", "how often")))
)  # fmt: skip


@lru_cache(maxsize=_KEPT)
def sort_of(question: str) -> Sort:
    """Return what a question asks for; "" when it has no word that tells."""
    opening = question[:_OPENING_CHARS]
    found = [
        (match.start(), rank, sort)
        for rank, (sort, pattern) in enumerate(_PATTERNS)
        if (match := pattern.search(opening))
    ]
    return min(found)[2] if found else ""


def is_same_sort(a: str, b: str) -> bool:
    """Return whether two questions ask for the same sort of thing in the same way."""
    return sort_of(a) == sort_of(b)


def are_of_one_sort(a: str, b: str) -> bool:
    """Return whether two questions may ask for the same; one thing has several reasons."""
    mine, theirs = sort_of(a), sort_of(b)
    if "reason" in (mine, theirs):
        return False
    return mine == theirs or frozenset((mine, theirs)) in _EXCHANGED
