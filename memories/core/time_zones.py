"""In which time zone something is given: "in UTC", "in Berlin time"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memories.core.function_words import AUXILIARIES, DETERMINERS, words_of
from memories.core.lexicon import concept_of

MAX_CHARS: Final = 160
_ZONE: Final = re.compile(
    r"\b(?:(?:in|on|uses?|to)\s(?:the\s)?|(?<=\d\d)\s)(?P<zone>UTC|GMT|[A-Z][a-z]+(?:\s[A-Z][a-z]+)?\s(?:local\s)?"
    r"time|local\stime|CES?T|[ECMP][SD]?T)\b(?!\s?[+-])"
)
_WORD: Final = re.compile(r"\w[\w'’-]{0,40}")
# Not those that are words or other names as well, such as "WEST", "CT" and "MSK".
ABBREVIATED_ZONES: Final = words_of(
    "utc gmt bst cet cest eet eest ist jst kst hkt aest aedt nzst nzdt est edt cst cdt mst mdt"
    " pst pdt akst akdt"
)
_UNIVERSAL: Final = frozenset({"utc", "gmt"})
# Where the clock is that of Greenwich for half of the year.
_NEAR_UNIVERSAL: Final = words_of("london lisbon dublin british irish western icelandic iceland")
_CARRIERS: Final = frozenset(
    map(concept_of, words_of("write show schedule store use run set display record give express"))
)
_IDLE: Final = DETERMINERS | AUXILIARIES | words_of("in on to for at of by with it")


def one_is_universal(a: str, b: str) -> bool:
    """Return whether one sentence gives a thing in UTC and the other in a local time."""
    left, right = _zoned(a), _zoned(b)
    return bool(left and right and left[0] == right[0] and left[1] != right[1])


@lru_cache(maxsize=4096)  # of short texts only
def _zoned(text: str) -> tuple[frozenset[str], bool] | None:
    """Return the concepts of the thing, and whether its zone is UTC; None if it names none."""
    zones = list(_ZONE.finditer(text)) if len(text) <= MAX_CHARS else []
    if len(zones) != 1:
        return None
    zone = zones[0]["zone"].lower()
    if not _NEAR_UNIVERSAL.isdisjoint(zone.split()):
        return None
    rest = f"{text[: zones[0].start()]} {text[zones[0].end() :]}".lower()
    words = (word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(rest))
    thing = frozenset(concept_of(word) for word in words if word not in _IDLE) - _CARRIERS
    return (thing, zone in _UNIVERSAL) if thing else None
