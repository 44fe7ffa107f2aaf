"""Both sides pair the same things the other way round: "Ana on Monday, Ben on Friday"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from functools import lru_cache
from itertools import chain, combinations
from typing import Final, NamedTuple

from memories.core.cases import CaseReading, contradicts
from memories.core.claim_types import Reading
from memories.core.text_parts import DASHES, MAX_CHARS, content_of, split_at, tokens_of

_BETWEEN: Final = frozenset(".,;:?!") | DASHES | {"and", "but", "while", "whereas"}
CROSSWISE: Final = "the same things paired the other way round"
_MAX_PARTS: Final = 8
_MIN_SHARE: Final = 0.6  # of the words of the two parts that both texts have


class _Parts(NamedTuple):
    """The content words of each part of a text, and the number of the part of those in one."""

    parts: tuple[frozenset[str], ...]
    places: dict[str, int]

    def words(self, one: int, other: int) -> frozenset[str]:
        """Return the words of two parts."""
        return self.parts[one] | self.parts[other]


def find(a: Reading, b: Reading) -> CaseReading | None:
    """Find two parts of a text whose words stand in two parts of the other one, crosswise.

    "Blue bags hold treated seed, white ones untreated"; "white bags hold treated seed, blue ones
    untreated". The parts of one text have all words of those of the other.
    """
    crossings = _crossings(a.text, b.text)
    if not any(_are_like(mine, theirs) for mine, theirs in crossings):
        return None
    if _has_common_agent(a.text) != _has_common_agent(b.text):
        return None  # it moves to the head in the active: "Two nurses check and sign it"
    return contradicts("pairing", CROSSWISE, confidence=0.7)


def other_pairing(a: str, b: str) -> str:
    """Return `CROSSWISE` when two texts pair words crosswise, else "".

    The rest of the parts may differ, so this is no contradiction yet.
    """
    return CROSSWISE if any(True for _ in _crossings(a, b)) else ""


def _crossings(a: str, b: str) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the words of two parts of each text that share words crosswise.

    Only words that occur once in both texts count.
    """
    if max(len(a), len(b)) > MAX_CHARS:
        return
    one, other = _parts(a), _parts(b)
    cells = {(one.places[key], other.places[key]) for key in one.places.keys() & other.places}
    for (i, j), (k, m) in combinations(sorted(cells), 2):
        if i != k and j != m and (i, m) in cells and (k, j) in cells:
            yield one.words(i, k), other.words(j, m)


def _has_common_agent(text: str) -> bool:
    """Return whether one agent does all: "checked and signed by two nurses"."""
    return sum(token.lower == "by" for token in tokens_of(text)) == 1


def _are_like(mine: Set[str], theirs: Set[str]) -> bool:
    """Return whether two sets of words share most, and one has nothing that the other lacks."""
    least = _MIN_SHARE * max(len(mine), len(theirs))
    return len(mine & theirs) >= least and (mine <= theirs or theirs <= mine)


@lru_cache(maxsize=1024)
def _parts(text: str) -> _Parts:
    parts = [content_of(part) for part in split_at(tokens_of(text), _BETWEEN)][:_MAX_PARTS]
    counts = Counter(chain.from_iterable(parts))
    places = {
        key: number for number, words in enumerate(parts) for key in words if counts[key] == 1
    }
    return _Parts(tuple(parts), places)
