"""Read questions whether somebody is still there: who left, and which place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import dropwhile
from typing import Final

from memories.core.lexicon import is_product
from memories.core.topic_words import stems

_NAME: Final = r"(?-i:[A-Z][\w'’-]{1,40}(?:\s[A-Z][\w'’-]{1,40}){0,3})"
# Where people work or what they belong to; who has left a part may be named by the whole.
_ORGANISATION: Final = (
    r"academy|agency|archive|association|bakery|band|bank|choir|church|clinic|club|community|company|"
    r"council|ensemble|factory|farm|firm|foundation|gallery|gym|hospital|hotel|institute|"
    r"kindergarten|library|museum|nursery|orchestra|parish|pharmacy|pub|restaurant|school|society|"
    r"theat(?:re|er)|troupe|university"
)
_PART: Final = (
    r"bar|board|branch|caf[eé]|cent(?:re|er)|circle|class|committee|cooperative|crew|department|"
    r"group|guild|house|kitchen|lab|laboratory|league|office|party|plant|practice|shop|squad|staff|"
    r"store|studio|team|union|ward|warehouse|workshop|yard"
)
_OF_GROUP: Final = (
    rf"(?:the|our|your|this|a)\s(?:[\w'’-]{{1,40}}\s){{0,3}}(?:{_ORGANISATION}|{_PART})s?"
)
_WITH_US: Final = r"us|you|ours|them"
_TIMES: Final = r"(?!(?:the\s)?(?:moment|weekends?|mornings?|afternoons?|evenings?|nights?)\b)"
_OPENING: Final = (
    rf"^(?:is|are|does|do|has|have|was|did)\s(?:(?:dr|mr|mrs|ms)\.?\s)?(?P<name>{_NAME})\s"
    r"(?:(?:still|now|currently|even)\s)?"
)
# "Does Mireille still work at the club?", "Is Enno a member of the band?", "Is Ana still here?"
_STAYS: Final = re.compile(
    rf"{_OPENING}(?:"
    r"(?:(?:an?\s|the\s)?(?:member|part|employee|colleague|volunteer)\s(?:of|at|in)|employed)"
    r"(?:\s(?:at|by|in|with))?(?:\s(?P<of>[^?]{1,80}))?|"
    r"exists?(?:\s(?:in|at|on)\s(?P<where>[^?]{1,80}))?|"
    rf"(?:work(?:s|ing)?\s?)?(?:here|at\s{_TIMES}(?P<at>(?:the|our|your)\s[^?]{{1,80}})|"
    rf"(?:at|for|by)\s(?P<by>(?-i:[A-Z])[^?]{{1,80}})|(?:at|in|on|for)\s(?P<group>{_OF_GROUP})|with\s(?:{_WITH_US}))?"
    r")\W*$",
    re.IGNORECASE,
)
# "Does Tilo still sing in the choir?": who does not may do other things elsewhere.
_TAKES_PART: Final = re.compile(
    rf"{_OPENING}[a-z]{{2,20}}\s(?:in|for|at|with)\s(?P<group>{_OF_GROUP})\W*$", re.IGNORECASE
)
_BARE: Final = re.compile(
    rf"{_OPENING}(?:at|for|by)\s(?!(?:{_OF_GROUP})|(?-i:[A-Z]))", re.IGNORECASE
)
_ORGANISATIONS: Final = re.compile(rf"\b(?:{_ORGANISATION})s?\b", re.IGNORECASE)
_FULL: Final = re.compile(rf"\b{_NAME}")
_AT_NAME: Final = re.compile(r"\b[Aa]t\s[A-Z]")


@dataclass(frozen=True, slots=True)
class Departure:
    """Who is no longer at a place, by stems; ``takes_part`` if only one thing was done there."""

    name: frozenset[str]
    place: frozenset[str]
    takes_part: bool = False


def read_departure(question: str) -> Departure | None:
    """Return whom a question of yes or no takes for somebody of a place; None for others."""
    found = _STAYS.match(question) or _TAKES_PART.match(question)
    if not found or _BARE.match(question):  # "at the dentist"
        return None
    name = frozenset(stems(found["name"]))
    if any(map(is_product, name)):
        return None
    told = {k: v for k, v in found.groupdict().items() if k != "name" and v}
    place = frozenset(stems(" ".join(told.values())))
    return Departure(name, place, found.re is _TAKES_PART)


def is_elsewhere(place: frozenset[str], told: str) -> bool:
    """Return whether a text speaks of another club, team or firm than the place that was left."""
    if not place or not place.isdisjoint(stems(told)):
        return False
    return bool(_ORGANISATIONS.search(told) or _AT_NAME.search(told))


def fuller_names(name: frozenset[str], texts: Iterable[str]) -> set[frozenset[str]]:
    """Return what texts add to a name right behind it: "Berg" to "Anna"."""
    found = set()
    for text in texts:
        for match in _FULL.finditer(text):
            words = dropwhile(lambda word: name.isdisjoint(stems(word)), match[0].split())
            if name < (whole := frozenset(stems(" ".join(words)))):
                found.add(whole - name)
    return found
