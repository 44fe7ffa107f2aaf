"""Names that differ by a word: "Holmbury" and "Old Holmbury", "Dun Museum" and "Dun Toy Museum".

A definite noun counts as a name: "the booking service" and "the booking archive service".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Final

from memories.core.function_words import FUNCTION_WORDS, words_of

# Words that make another name of one.
BEFORE_NAMES: Final = words_of(
    "east west north south upper lower old new great little inner outer st saint"
)
_GROUPS: Final = words_of("team group crew squad department")  # "the platform (team) lead"
_MAX_CHARS: Final = 2000
_RUN: Final = re.compile(
    r"(?P<name>[A-Z][\w'’-]{0,40}(?:\s[A-Z][\w'’-]{0,40}){0,6}|(?<=\b[Tt]he\s)[a-z][a-z-]{1,30})"
    r"(?P<behind>(?:\s[a-z][a-z-]{1,30}){0,3})"
)
_END: Final = re.compile(r"['’]s?$")


def other_longer_name(a: str, b: str) -> str:
    """Return as a reason two names of which one has all words of the other, "" without such.

    A text that has both names speaks of both. "Priya Nair" may be "Priya".
    """
    mine, theirs = _names_of(a), _names_of(b)
    for left, right in product(mine - theirs, theirs - mine):
        if _are_two(left, right) or _are_two(right, left):
            return f"other subject: {left} vs {right}"
    return ""


@dataclass(frozen=True, slots=True)
class _Name:
    """A name in lower case, and the words in lower case behind it, at most three."""

    words: tuple[str, ...]
    behind: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.words)


def _are_two(short: _Name, long: _Name) -> bool:
    """Return whether one name, or the noun behind it, has a word more within."""
    if short.words == long.words:  # "the Lindal grant", "the Lindal follow-up grant"
        return _GROUPS.isdisjoint(long.behind[:1]) and short.behind[:1] in _later(long)
    extra = set(long.words).difference(short.words)
    if not set(short.words) < set(long.words):
        return False
    begins_alike = len(short.words) > 1 and short.words[0] == long.words[0]
    is_inside = begins_alike and short.words[-1] == long.words[-1]
    are_of_one_noun = bool(short.behind) and short.behind[:1] == long.behind[:1]
    return is_inside or are_of_one_noun or not extra.isdisjoint(BEFORE_NAMES)


def _later(name: _Name) -> list[tuple[str, ...]]:
    """Return the words behind a name but the first, each by itself."""
    return [(word,) for word in name.behind[1:]]


@lru_cache(maxsize=8192)
def _names_of(text: str) -> frozenset[_Name]:
    """Return the names of a text; none of a long text."""
    if len(text) > _MAX_CHARS:
        return frozenset()
    found = set()
    for match in _RUN.finditer(text):
        run = _END.sub("", match["name"]).lower().split()
        behind = match["behind"].split()
        if run == ["the"]:  # "The booking service" at the start of a sentence
            run, behind = behind[:1], behind[1:]
        words = run[1:] if run and run[0] in FUNCTION_WORDS else run
        until = next((at for at, w in enumerate(behind) if w in FUNCTION_WORDS), len(behind))
        if words and not match["name"].isupper():  # "the RSA key pair", "the RSA public key"
            found.add(_Name(tuple(words), tuple(behind[:until])))
    return frozenset(found)
