"""What the rules say about pairs of texts, compared once a pair and never while locks are held.

Comparing two long texts takes up to a fifth of a second. Who holds locks uses `LookUps`: answers
are looked up, and what is not known yet is compared after the locks are given back. The texts
themselves are the keys, so that an answer about an older wording is never used for a newer one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from conflicts.core import subjects
from conflicts.core.subjects import Note
from memories.core import claims
from memories.core.claims import Relation


class NotComparedError(Exception):
    """A look-up met a pair that nobody has compared yet."""


class Comparisons:
    """Compares pairs when asked, each once."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def relation(self, a: str, b: str) -> Relation:
        """Return how claim `b` relates to claim `a`."""
        relation: Relation = self._answer(_relation, a, b, otherwise="different")
        return relation

    def says_the_same(self, a: str, b: str) -> bool:
        """Tell whether two texts make the same claim."""
        return a == b or self.relation(a, b) == "same"

    def are_of_other_subjects(self, a: Note, b: Note) -> bool:
        """Tell whether two memories clearly speak of two things."""
        return bool(self._answer(_are_of_other_subjects, a, b, otherwise=False))

    def demand_known(self) -> None:
        """Raise `NotComparedError` when something was asked that is not known."""

    def _answer(self, compare: Callable[[Any, Any], Any], a: Any, b: Any, *, otherwise: Any) -> Any:
        key = (compare, a, b)
        if key not in self._known:
            self._known[key] = compare(a, b)
        return self._known[key]


class LookUps(Comparisons):
    """Looks answers up and compares nothing until `compare_missed`.

    What is not known is answered in some way and noted: nothing that was made of such an answer
    may last, which `demand_known` sees to.
    """

    def __init__(self) -> None:
        super().__init__()
        self._missed: dict[Hashable, tuple[Callable[[Any, Any], Any], Any, Any]] = {}

    @property
    def is_missing(self) -> bool:
        """Tell whether something was asked that is not known."""
        return bool(self._missed)

    def demand_known(self) -> None:
        """Raise `NotComparedError` when something was asked that is not known."""
        if self._missed:
            raise NotComparedError

    def compare_missed(self) -> None:
        """Compare what was asked and not known; hold no lock meanwhile."""
        for key, (compare, a, b) in self._missed.items():
            self._known[key] = compare(a, b)
        self._missed.clear()

    def _answer(self, compare: Callable[[Any, Any], Any], a: Any, b: Any, *, otherwise: Any) -> Any:
        key = (compare, a, b)
        if key in self._known:
            return self._known[key]
        self._missed[key] = (compare, a, b)
        return otherwise


def _relation(a: str, b: str) -> Relation:
    return claims.compare(a, b).relation


def _are_of_other_subjects(a: Note, b: Note) -> bool:
    return subjects.are_of_other_subjects(a, b)
