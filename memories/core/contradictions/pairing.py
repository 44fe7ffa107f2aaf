"""Both sides pair the same things the other way round: "Ana on Monday, Ben on Friday"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple

from memories.core.cases import CaseReading, contradicts
from memories.core.claim_types import Reading
from memories.core.text_parts import (
    DASHES,
    content_of,
    split_at,
    tokens_of,
)

_BETWEEN: Final = frozenset(".,;:?!") | DASHES | {"and", "but", "while", "whereas"}
_MAX_PARTS: Final = 8
_MAX_NAMED: Final = 3  # words of a part that the reason names
_MIN_SHARE: Final = 0.6  # of the words of the two parts that both texts have


class _Parts(NamedTuple):
    """The content words of each part of a text, and the places of those that occur once.

    `places` has the number of the part and the written word by its concept.
    """

    parts: tuple[frozenset[str], ...]
    places: dict[str, tuple[int, str]]

    def words(self, one: int, other: int) -> frozenset[str]:
        """Return the words of two parts."""
        return self.parts[one] | self.parts[other]


def find(a: Reading, b: Reading) -> CaseReading | None:
    """Find two parts of a text whose words stand in two parts of the other one, crosswise.

    "Blue bags hold treated seed, white ones untreated"; "white bags hold treated seed, blue ones
    untreated". Only words that occur once in both texts count.
    """
    if _has_common_agent(a.text) != _has_common_agent(b.text):
        return None  # it moves to the head in the active: "Two nurses check and sign it"
    one, other = _parts(a.text), _parts(b.text)
    common = one.places.keys() & other.places.keys()
    cells: dict[tuple[int, int], list[str]] = defaultdict(list)
    for key, (part, written) in one.places.items():
        if key in common:
            cells[part, other.places[key][0]].append(written)
    for (i, j), (k, m) in combinations(cells, 2):
        is_crossed = i != k and j != m and (i, m) in cells and (k, j) in cells
        if is_crossed and _are_like(one.words(i, k), other.words(j, m)):
            thing, here, there = (_name(cells[cell]) for cell in ((i, j), (i, m), (k, j)))
            reason = f"paired the other way round: {thing} with {here}, or with {there}"
            return contradicts("pairing", reason, confidence=0.7)
    return None


def _has_common_agent(text: str) -> bool:
    """Return whether one agent does all: "checked and signed by two nurses"."""
    return sum(token.lower == "by" for token in tokens_of(text)) == 1


def _name(words: Sequence[str]) -> str:
    return " ".join(words[:_MAX_NAMED])


def _are_like(mine: Set[str], theirs: Set[str]) -> bool:
    """Return whether two sets of words share most, and one has nothing that the other lacks."""
    least = _MIN_SHARE * max(len(mine), len(theirs))
    return len(mine & theirs) >= least and (mine <= theirs or theirs <= mine)


@lru_cache(maxsize=512)
def _parts(text: str) -> _Parts:
    parts = [content_of(part) for part in split_at(tokens_of(text), _BETWEEN)][:_MAX_PARTS]
    places: dict[str, tuple[int, str]] = {}
    repeated: set[str] = set()
    for number, words in enumerate(parts):
        repeated |= places.keys() & words.keys()
        places |= {key: (number, written) for key, written in words.items()}
    once = {key: place for key, place in places.items() if key not in repeated}
    return _Parts(tuple(map(frozenset, parts)), once)
