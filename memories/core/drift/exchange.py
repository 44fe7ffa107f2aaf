"""Find what a new wording puts in the place of a word that decides: an order, a day, a way, all."""

from __future__ import annotations

import re
from typing import Final

from memories.core.calendar_words import WEEKDAY_PATTERN
from memories.core.function_words import OPPOSED_PREPOSITIONS
from memories.core.lexicon import concept_of
from memories.core.number_words import ORDINALS

_ORDER: Final = {
    word: other
    for word, other in OPPOSED_PREPOSITIONS.items()
    if word not in ("in", "on", "to", "up", "down", "into", "out", "off")
} | {"in": "outside"}
# By what something is sent or said. Two such ways may hold of one thing, so that only an edit which
# puts one in the place of the other tells of a change.
_CARRIER: Final = re.compile(
    r"\b(?:by|via|per|over|through)(?: the)? (?P<carrier>post|mail|e-?mail|letter|phone|telephone"
    r"|fax|sms|courier|messenger)\b",
    re.IGNORECASE,
)
# Of a month: "the second Thursday".
_DAY_OF_MONTH: Final = re.compile(
    rf"\b(?P<which>{'|'.join(ORDINALS)}|1st|2nd|3rd|4th|5th|last) (?P<day>{WEEKDAY_PATTERN})\b",
    re.IGNORECASE,
)
_LETTERS: Final = {"letter": "post"}
_ALL: Final = re.compile(r"\b(?:every\w*|all|any(?:one|body))\b", re.IGNORECASE)
_SOME: Final = re.compile(r"\b(?:only|nobody but|no one but|none but|just|solely)\b", re.IGNORECASE)


def find_exchange(old: str, new: str) -> str:
    """Return what stands against what in two wordings, "" for nothing."""
    checks = (_other_order, _other_day, _other_carrier, _other_people)
    return next(filter(None, (check(old, new) for check in checks)), "")


def _other_order(old: str, new: str) -> str:
    gone, come = (
        set(a.lower().split()) - set(b.lower().split()) for a, b in ((old, new), (new, old))
    )
    word = next((one for one in sorted(gone) if _ORDER.get(one) in come), "")
    return f"{word} vs {_ORDER[word]}" if word else ""


def _other_day(old: str, new: str) -> str:
    """Return which day of a month stands against which: "second Thursday vs last Thursday"."""
    before, after = (
        {one["day"].lower().rstrip("s"): one for one in _DAY_OF_MONTH.finditer(text)}
        for text in (old, new)
    )
    for day in sorted(before.keys() & after.keys()):
        one, other = before[day], after[day]
        if _number_of(one["which"]) != _number_of(other["which"]):
            return f"{one[0]} vs {other[0]}"
    return ""


def _number_of(which: str) -> str:
    lower = which.lower()
    return str(ORDINALS.get(lower, lower[0] if lower[0].isdigit() else lower))


def _other_carrier(old: str, new: str) -> str:
    before, after = _carriers(old), _carriers(new)
    gone, come = before.keys() - after.keys(), after.keys() - before.keys()
    return f"{before[min(gone)]} vs {after[min(come)]}" if gone and come else ""


def _carriers(text: str) -> dict[str, str]:
    """Return by what something is sent or said, as written: "by post", "over the phone"."""
    found = ((concept_of(one["carrier"].lower()), one[0]) for one in _CARRIER.finditer(text))
    return {_LETTERS.get(key, key): written for key, written in found}


def _other_people(old: str, new: str) -> str:
    """Return a reason where only some may still do what everybody did: "only leads may deploy"."""
    all_of, some = _ALL.search(old), _SOME.search(new)
    is_kept = _ALL.search(new) is not None or _SOME.search(old) is not None
    return "" if is_kept or not all_of or not some else f"{all_of[0]} vs {some[0]}"
