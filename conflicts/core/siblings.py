"""Things of a workspace that its writers tell apart by the word before a noun.

Where "the billing service", "the login service", "the billing portal" and "the login portal" are
all spoken of, "uploads to the login portal" and "the upload limit of the billing service" are about
two things, though neither noun is in both.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Final

from conflicts.core.apart import IDLE_MODIFIERS
from memories.core.function_words import FUNCTION_WORDS

_MAX_CHARS: Final = 600
_MIN_COMMON: Final = 2  # words before both of two nouns that name things of one kind
_MIN_FACTS: Final = 3  # of each of two nouns behind one word: "the mail archive", "the mail relay"
_PAIR: Final = re.compile(
    r"\b(?:the|our|each|every|this)\s(?P<word>[a-z][a-z-]{2,30})\s(?P<noun>[a-z][a-z-]{2,30})\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[a-z][a-z-]*")

Pair = tuple[str, str]  # the word before a noun, and the noun


@lru_cache(maxsize=16384)
def pairs_of(text: str) -> frozenset[Pair]:
    """Return the definite nouns of a text with the word before each; none of a long text."""
    if len(text) > _MAX_CHARS:
        return frozenset()
    found = ((match["word"].lower(), match["noun"].lower()) for match in _PAIR.finditer(text))
    return frozenset(
        pair for pair in found if pair[0] not in IDLE_MODIFIERS and FUNCTION_WORDS.isdisjoint(pair)
    )


@dataclass(frozen=True)
class Siblings:
    """The words before each noun, the nouns after each word, and the facts of each pair."""

    words_before: Mapping[str, set[str]]
    nouns_behind: Mapping[str, set[str]]
    facts_of: Mapping[Pair, int]

    def are_apart(self, a: str, b: str) -> bool:
        """Return whether two texts speak of two things that the workspace tells apart."""
        mine, theirs = _words_of(a), _words_of(b)
        return any(
            self._are_apart(one, two)
            for one, two in product(pairs_of(a) - pairs_of(b), pairs_of(b) - pairs_of(a))
            if theirs.isdisjoint(set(one) - set(two)) and mine.isdisjoint(set(two) - set(one))
        )

    def _are_apart(self, one: Pair, two: Pair) -> bool:
        """Return whether two nouns, or the words before them, stand in each other's place."""
        (word, noun), (other, second) = one, two
        before = self.words_before.get(noun, set()) & self.words_before.get(second, set())
        has_parallels = len(before) >= _MIN_COMMON
        if word == other:
            facts = min(self.facts_of.get(pair, 0) for pair in (one, two))
            return has_parallels or facts >= _MIN_FACTS
        behind = self.nouns_behind.get(word, set()) & self.nouns_behind.get(other, set())
        return bool(behind) and (noun == second or has_parallels)


@lru_cache(maxsize=16384)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def find_siblings(texts: Iterable[str]) -> Siblings:
    """Read what the texts of a workspace tell apart."""
    words_before: dict[str, set[str]] = defaultdict(set)
    nouns_behind: dict[str, set[str]] = defaultdict(set)
    facts_of = Counter(pair for text in texts for pair in pairs_of(text))
    for word, noun in facts_of:
        words_before[noun].add(word)
        nouns_behind[word].add(noun)
    return Siblings(words_before, nouns_behind, facts_of)
