"""Write two answers alike where they spell one value in two ways, so that they can be compared."""

from __future__ import annotations

import re
from typing import Final

_HOURS_MINUTES: Final = re.compile(
    r"\b(?P<hours>\d{1,3})\s?(?:h|hrs?|hours?)\s?(?:and\s)?(?P<minutes>\d{1,2})"
    r"(?:\s?(?:m|mins?|minutes?))?\b(?!\s?[\w:])",
    re.IGNORECASE,
)
# A price has no three decimals, but for fuel: "1.759 €/l".
_THOUSANDS: Final = re.compile(
    r"(?<![\d.,])\d{1,3}(?:\.\d{3}){1,3}(?![\d.,])(?=\s?(?:€|eur\b|euros?\b))(?![^\d]{1,8}(?:/|per\b))|"
    r"(?<=€)\d{1,3}(?:\.\d{3}){1,3}(?![\d.,])(?!\s?(?:/|per\b))",
    re.IGNORECASE,
)
_WEEKDAYS: Final = re.compile(
    r"\b(?:on\s|every\s)?(?:week\s?days?|mon(?:days?)?\s?(?:to|through|till|until|-|–)\s?fri(?:days?)?)\b",
    re.IGNORECASE,
)
_WEEKEND: Final = re.compile(
    r"\b(?:(?:on|at)\s)?(?:(?:the\s|every\s)?weekends?|sat(?:urdays?)?\s?(?:and|&|\+)\s?sun(?:days?)?)\b",
    re.IGNORECASE,
)
# A bare time is a length beside another one: "a week" may else be said of how often.
_LENGTH: Final = re.compile(
    r"(?:about\s|for\s|up\sto\s|after\s)?(?:\d{1,6}(?:[.,]\d{1,4})?|one|two|three|four|five|six|seven|"
    r"eight|nine|ten|twelve)\s?(?:second|minute|min|hour|h|day|week|month|year)s?",
    re.IGNORECASE,
)
_ONE: Final = re.compile(
    r"(?:for\s|after\s)?an?\s(?P<unit>second|minute|hour|day|week|month|year)",
    re.IGNORECASE,
)
_EDGES: Final = " .,;"
_SAINT: Final = re.compile(r"\bSt\.?\s(?=[A-Z])")
_TITLE: Final = re.compile(r"\b(?:Dr|Prof|Mr|Mrs|Ms|Miss|Herr|Frau|Professor|Doctor)\.?\s(?=[A-Z])")
_FRACTION: Final = re.compile(
    r"(?<![\w-])(?:(?:(?P<count>an?|one|two|three|four)\s)?(?P<part>half|third|fifth|tenth)s?|"
    r"(?P<quarters>one|two|three)\squarters?)(?![\w-])",
    re.IGNORECASE,
)
_PERCENT: Final = re.compile(r"%|\bper\s?cent\b", re.IGNORECASE)
_COUNTS: Final = {"two": 2, "three": 3, "four": 4}
_PARTS: Final = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}


def spell_alike(a: str, b: str) -> tuple[str, str]:
    """Return two answers with their times, prices, days and names spelled in one way.

    "1 h 30 min" is "90 minutes", "1.000 €" is "1000 €", "Monday to Friday" is "weekdays",
    "a week" is "1 week" beside a number of days. A
    fraction becomes a percentage where the other answer is one ("a quarter" may be of a year), and
    a title is left out where the other answer has none.
    """
    one, other = _spell(a), _spell(b)
    if (match := _ONE.fullmatch(one.strip(_EDGES))) and _LENGTH.fullmatch(other.strip(_EDGES)):
        one = f"1 {match['unit']}"
    elif (match := _ONE.fullmatch(other.strip(_EDGES))) and _LENGTH.fullmatch(one.strip(_EDGES)):
        other = f"1 {match['unit']}"
    if bool(_TITLE.search(one)) != bool(_TITLE.search(other)):
        one, other = _TITLE.sub("", one), _TITLE.sub("", other)
    if _PERCENT.search(one):
        return one, _FRACTION.sub(_as_percent, other)
    return (_FRACTION.sub(_as_percent, one), other) if _PERCENT.search(other) else (one, other)


def _spell(answer: str) -> str:
    answer = _HOURS_MINUTES.sub(_as_minutes, answer)
    answer = _THOUSANDS.sub(lambda match: match[0].replace(".", ""), answer)
    answer = _WEEKEND.sub("weekends", _WEEKDAYS.sub("weekdays", answer))
    return _SAINT.sub("Saint ", answer)


def _as_minutes(match: re.Match[str]) -> str:
    return f"{60 * int(match['hours']) + int(match['minutes'])} minutes"


def _as_percent(match: re.Match[str]) -> str:
    """Return a fraction as a whole percentage, as people round it: a third is 33 %."""
    count = _COUNTS.get((match["count"] or match["quarters"] or "").lower(), 1)
    # A pattern that ignores case takes a dotless i for an "i"; the table does not.
    part = _PARTS.get((match["part"] or "quarter").lower())
    return f"{round(100 * count / part)} %" if part else match[0]
