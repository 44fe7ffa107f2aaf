"""Read the occasion that a text names in front: "over Easter", "in January", "in Ana's absence".

What is so then says nothing of other times.
"""

from __future__ import annotations

import re
from typing import Final

from conflicts.core.statements import Statement
from memories.core.calendar_words import FESTIVALS, MONTH_PATTERN
from memories.core.lexicon import concept_of
from memories.core.topic_words import tokens

_OCCASIONS: Final = (
    rf"{'|'.join(FESTIVALS)}|eve|holidays?|vacations?|weekends?|absence|leave|illness|strike|exams?"
)
_LEAD: Final = re.compile(
    r"^(?:over|on|at|in|during|throughout|for)\s"
    rf"(?:(?:[\w'’]{{1,30}}\s){{0,3}}?(?P<occasion>{_OCCASIONS})|"
    rf"(?P<date>(?:\d{{1,2}}\.?\s)?{MONTH_PATTERN}(?:\s\d{{1,2}})?))\b(?!\s(?:and|or)\b)",
    re.IGNORECASE,
)


def is_of_other_time(a: Statement, b: Statement, *, asked: str = "") -> bool:
    """Return whether a text names an occasion in front that neither the other nor `asked` names."""
    return _names_alone(a, b, asked) or _names_alone(b, a, asked)


def _names_alone(a: Statement, b: Statement, asked: str) -> bool:
    found = _LEAD.match(a.fact.content)
    if found is None:
        return False
    named = (found["occasion"] or found["date"]).lower().split()
    other = set(tokens(f"{b.fact.content} {asked}".lower()))
    return not any(word in other or concept_of(word) in b.stems for word in named)
