"""The calls that are compared, and the embedding that all peers share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from engram.kernel.embedding import Floats, embed


@dataclass(frozen=True, slots=True)
class Item:
    """A text to store, under a key that a search answers."""

    key: str
    text: str
    metadata: Mapping[str, str] = field(default_factory=dict)


class Peer(Protocol):
    """A store of memories. A group is what it separates users by."""

    name: str

    def load(self, items: Sequence[Item], *, group: str) -> None:
        """Store many items by the fastest call that the library has."""

    def add(self, item: Item, *, group: str) -> None:
        """Store one item as an agent would."""

    def search(self, query: str, *, k: int, group: str) -> list[str]:
        """Return the keys of the nearest items, best first."""

    def count(self, group: str) -> int:
        """Return the number of memories in a group."""


class SharedEmbedding:
    """Engram's embedding for the peers: the same model, called without a cache.

    Within `prepared` texts with known vectors are not embedded again: loading is not measured.
    """

    width = 384

    def __init__(self) -> None:
        self._known: dict[str, Floats] = {}

    def __call__(self, texts: Iterable[str]) -> Floats:
        """Return unit vectors (n, width)."""
        wanted = list(texts)
        if not self._known:
            return embed(wanted)
        unknown = [text for text in wanted if text not in self._known]
        found = dict(zip(unknown, embed(unknown), strict=True)) if unknown else {}
        return np.array([self._known[t] if t in self._known else found[t] for t in wanted])

    @contextmanager
    def prepared(self, vectors: Mapping[str, Floats]) -> Iterator[None]:
        """Use known vectors within the block."""
        self._known = dict(vectors)
        try:
            yield
        finally:
            self._known = {}
