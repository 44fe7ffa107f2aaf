"""Both sides pair the same things the other way round: "Ana on Monday, Ben on Friday"."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
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
_MIN_SHARE: Final = 0.6  # of the words of each part that both texts have


class _Parts(NamedTuple):
    """The parts of a text: how many content words each has, and where those stand that occur once.

    `places` has the number of the part and the written word by its concept.
    """

    sizes: tuple[int, ...]
    places: dict[str, tuple[int, str]]


def find(a: Reading, b: Reading) -> CaseReading | None:
    """Find two parts of a text whose words stand in two parts of the other one, crosswise.

    "Blue bags hold treated seed, white ones untreated"; "white bags hold treated seed, blue ones
    untreated". Only words that occur once in both texts count.
    """
    one, other = _parts(a.text), _parts(b.text)
    common = one.places.keys() & other.places.keys()
    cells: dict[tuple[int, int], list[str]] = defaultdict(list)
    for key, (part, written) in one.places.items():
        if key in common:
            cells[part, other.places[key][0]].append(written)
    left, right = _told_again(one, common), _told_again(other, common)
    for (i, j), (k, m) in combinations(cells, 2):
        is_crossed = i != k and j != m and (i, m) in cells and (k, j) in cells
        if is_crossed and {i, k} <= left and {j, m} <= right:
            thing, here, there = (_name(cells[cell]) for cell in ((i, j), (i, m), (k, j)))
            reason = f"paired the other way round: {thing} with {here}, or with {there}"
            return contradicts("pairing", reason, confidence=0.7)
    return None


def _name(words: Sequence[str]) -> str:
    return " ".join(words[:_MAX_NAMED])


def _told_again(parts: _Parts, common: Collection[str]) -> set[int]:
    """Return the parts most of whose words stand in the other text, too."""
    counts = Counter(part for key, (part, _) in parts.places.items() if key in common)
    return {part for part, count in counts.items() if count >= _MIN_SHARE * parts.sizes[part]}


@lru_cache(maxsize=2048)
def _parts(text: str) -> _Parts:
    parts = [content_of(part) for part in split_at(tokens_of(text), _BETWEEN)][:_MAX_PARTS]
    places: dict[str, tuple[int, str]] = {}
    repeated: set[str] = set()
    for number, words in enumerate(parts):
        repeated |= places.keys() & words.keys()
        places |= {key: (number, written) for key, written in words.items()}
    once = {key: place for key, place in places.items() if key not in repeated}
    return _Parts(tuple(map(len, parts)), once)
