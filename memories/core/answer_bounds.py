"""Tell answers that an amount keeps apart: another currency, sign, or side of a bound."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memories.core.claims import Quantity
from memories.core.units import CURRENCIES

_UP_TO: Final = re.compile(
    r"\b(?:under|below|less\sthan|fewer\sthan|no\smore\sthan|not\smore\sthan|at\smost|up\sto|until|till|"
    r"before|younger\sthan|maximum|max|(?:or|and)\s(?:less|fewer|under|younger|below|earlier))\b",
    re.IGNORECASE,
)
_FROM: Final = re.compile(
    r"\b(?:over|above|more\sthan|no\sless\sthan|not\sless\sthan|at\sleast|from|after|since|older\sthan|"
    r"minimum|min|(?:or|and)\s(?:more|over|older|above|up|upwards|later|newer))\b",
    re.IGNORECASE,
)
_LEAST_FIRST: Final = re.compile(r"\bno(?:t)?\sless\sthan\b", re.IGNORECASE)
_UNITS: Final = frozenset(CURRENCIES.values())
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


def exclude_by_amount(a: str, b: str, mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> bool:
    """Return whether two answers, with their quantities, have amounts that cannot both be it.

    "€10" and "$10", "-5" and "5", "under 18" and "18 and over".
    """
    if len(mine) == len(theirs) == 1:
        p, q = mine[0], theirs[0]
        if p.unit != q.unit and {p.unit, q.unit} <= _UNITS:
            return True
        if p.unit == q.unit and p.value == -q.value != 0:
            return True
    return _are_on_other_sides(a, b) or _are_on_other_sides(b, a)


def _are_on_other_sides(upper: str, lower: str) -> bool:
    """Return whether one answer ends at or below the number where the other begins."""
    ends, begins = _NUMBER.findall(upper), _NUMBER.findall(lower)
    if len(ends) != 1 or len(begins) != 1:
        return False
    if _side_of(upper) != "most" or _side_of(lower) != "least":
        return False
    if ends == begins:
        return True
    return all(map(_is_plain, (*ends, *begins))) and float(ends[0]) <= float(begins[0])


def _is_plain(number: str) -> bool:
    return number.replace(".", "", 1).isdigit()


def _side_of(answer: str) -> str:
    """Return whether an answer gives a bound that is the "most" or the "least"; "" for neither."""
    rest = _LEAST_FIRST.sub(" at least ", answer)
    without = _UP_TO.sub(" ", rest)
    is_most, is_least = without != rest, bool(_FROM.search(without))
    if is_most == is_least:
        return ""
    return "most" if is_most else "least"
