"""Subjects whose names differ by a word: "Old Holm" and "Holm", "Dun Toy Museum" and "Dun Museum".

A definite noun counts as a name: "the booking service" and "the booking archive service".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Final

from memories.core.claim_types import Claim
from memories.core.function_words import FORMS_OF_BE, FUNCTION_WORDS, words_of

# Words that make another name of one.
BEFORE_NAMES: Final = words_of(
    "east west north south upper lower old new great little inner outer st saint annex"
)
# Last words of names that a word inside makes another one; of people it is a middle name.
_INSTITUTIONS: Final = words_of(
    "museum club school street road lane house park church library hospital clinic society bank"
    " station bridge hall office university college academy team band festival market hotel inn"
    " pharmacy surgery bakery gallery theatre centre center association council"
)
_EPITHETS: Final = words_of("younger elder ii iii iv")
_GROUPS: Final = words_of("team group crew squad department")  # "the platform (team) lead"
_MOST_NAMES: Final = 12  # of a subject
_RUN: Final = re.compile(
    r"(?P<the>\b[Tt]he\s)?"
    r"(?P<name>(?!The\b)[A-Z][\w'’-]{0,40}(?:\s(?:the\s)?[A-Z0-9][\w'’-]{0,40}){0,6}|(?<=[Tt]he\s)[a-z][a-z-]{1,30})"
    rf"(?P<behind>(?:\s(?!(?:{'|'.join(sorted(FUNCTION_WORDS))})\b)[a-z][a-z-]{{1,30}}){{0,3}})"
)
_POSSESSIVE: Final = re.compile(r"['’]s?$")


def other_longer_name(a: Claim, b: Claim) -> str:
    """Return as a reason two names of the subjects, one with a word more, "" without such.

    "Priya Nair" may be "Priya", and "Ana Maria Kolb" may be "Ana Kolb".
    """
    mine, theirs = _names_of(subject_of(a)), _names_of(subject_of(b))
    for left, right in product(sorted(mine - theirs, key=str), sorted(theirs - mine, key=str)):
        if _are_two(left, right) or _are_two(right, left):
            return f"other subject: {left} vs {right}"
    return ""


@dataclass(frozen=True, slots=True)
class _Name:
    """A name in lower case, whether it is definite, and the words behind it, at most three."""

    words: tuple[str, ...]
    is_definite: bool
    behind: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((*self.words, *self.behind))


def _are_two(short: _Name, long: _Name) -> bool:
    """Return whether one name, or the noun behind it, has a word more within."""
    are_definite = short.is_definite and long.is_definite and bool(short.behind)
    if short.words == long.words:  # "the Lindal grant", "the Lindal follow-up grant"
        is_inserted = are_definite and short.behind[0] in long.behind[1:]
        return is_inserted and long.behind[0] not in _GROUPS
    extra = set(long.words).difference(short.words)
    if not set(short.words) < set(long.words):
        return False
    is_inside = len(short.words) > 1 and short.words[0] == long.words[0]
    are_institutions = short.words[-1] == long.words[-1] and short.words[-1] in _INSTITUTIONS
    are_of_one_noun = are_definite and short.behind[0] == long.behind[0] if long.behind else False
    is_other = not extra.isdisjoint(BEFORE_NAMES | _EPITHETS)
    return (is_inside and are_institutions) or are_of_one_noun or is_other


def subject_of(claim: Claim) -> str:
    """Return the words of a sentence before its verb."""
    verbs = {term.text.lower() for term in claim.terms if term.is_verb} | FORMS_OF_BE
    words = claim.text.split()
    until = next((at for at, word in enumerate(words) if at and word.lower() in verbs), 0)
    return " ".join(words[:until])


@lru_cache(maxsize=8192)
def _names_of(subject: str) -> frozenset[_Name]:
    """Return the names of a subject, at most `_MOST_NAMES`."""
    found: list[_Name] = []
    for match in _RUN.finditer(subject):
        words = _POSSESSIVE.sub("", match["name"]).lower().split()
        # "The RSA key", "the RSA public key": letters name no thing.
        if not match["name"].isupper() and words[0] not in FUNCTION_WORDS:
            found.append(_Name(tuple(words), bool(match["the"]), tuple(match["behind"].split())))
    return frozenset(found[:_MOST_NAMES])
