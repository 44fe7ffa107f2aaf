"""Two texts give different days of one period: the first and the 15th of the month."""

from __future__ import annotations

import re
from typing import Final

from conflicts.core.apart import is_observed
from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule
from memories.core.number_words import ORDINALS
from memories.core.reasons import Difference

RULE: Final = Rule(
    id="ambiguity.other-words.day-of-month",
    meaning="Two statements name different days of every month, quarter or year.",
    module=__name__,
    example=(
        "Fuel bills are sent on the first of the month.",
        "Fuel bills go out on the 15th of each month.",
    ),
)
MIN_COSINE: Final = 0.65
STRENGTH: Final = 0.70
_DAY_OF_PERIOD: Final = re.compile(
    r"\bthe\s(?P<day>first|last|second|third|\d{1,2}(?:st|nd|rd|th))\s(?:day\s)?of\s"
    r"(?:the|each|every|a)\s(?P<period>month|quarter|year)\b|"
    r"\bon\sthe\s(?P<alone>\d{1,2}(?:st|nd|rd|th))(?!\s(?:of\b|floor|\w+day))",
    re.IGNORECASE,
)


def find(pair: FactPair) -> Clash | None:
    """Compare the only day of a period that each text names."""
    if pair.cosine < MIN_COSINE or is_observed(pair.a, pair.b):
        return None
    mine, theirs = map(_days, pair.texts)
    if len(mine) != 1 or len(theirs) != 1:
        return None
    (left, period), (right, other) = mine[0], theirs[0]
    if not (period or other) or (period or "month") != (other or "month"):
        return None
    keys = (_number(left.lower()), _number(right.lower()))
    if keys[0] == keys[1]:
        return None
    reason = Difference(f"other value: the {left} against the {right}", *keys)
    return pair.clash(RULE, reason, strength=STRENGTH)


def _days(text: str) -> list[tuple[str, str]]:
    """Return the days that a text names, each with its period; "" for "on the 25th"."""
    return [
        (found["day"] or found["alone"], (found["period"] or "").lower())
        for found in _DAY_OF_PERIOD.finditer(text)
    ]


def _number(day: str) -> str:
    return str(ORDINALS[day]) if day in ORDINALS else day.rstrip("stndrh")
