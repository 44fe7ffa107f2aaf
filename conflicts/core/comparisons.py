"""What the rules say about pairs of texts, compared once a pair and never while locks are held.

Comparing two long texts takes up to a fifth of a second. Who holds locks uses `LookUps`: answers
are looked up, and what is not known yet is compared after the locks are given back. The texts
themselves are the keys, so that an answer about an older wording is never used for a newer one. A
process keeps its newest answers by the hash of what was compared, so that nobody who reads the same
card again waits for them.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Sequence
from threading import Lock
from typing import Any, Final

from conflicts.core import subjects
from conflicts.core.parts import MAX_MEMBERS
from conflicts.core.subjects import Note
from memories.core import claims, lengths
from memories.core.claims import Relation
from memories.core.spelling import same_letters

MAX_KEPT: Final = 8192  # answers
_ABSENT: Final = object()


class NotComparedError(Exception):
    """A look-up met a pair that nobody has compared yet."""


class KeptAnswers:
    """What a process knows of pairs, by their hash: no text stays. The oldest answers go first."""

    def __init__(self, most: int = MAX_KEPT) -> None:
        self._most = most
        self._answers: OrderedDict[bytes, Any] = OrderedDict()
        self._lock = Lock()

    def get(self, compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        """Return the answer, or `_ABSENT`."""
        return self._answers.get(_digest(compare, a, b), _ABSENT)

    def put(self, compare: Callable[[Any, Any], Any], a: Any, b: Any, answer: Any) -> None:
        """Keep an answer."""
        with self._lock:
            self._answers[_digest(compare, a, b)] = answer
            if len(self._answers) > self._most:
                self._answers.popitem(last=False)


KEPT = KeptAnswers()


class Comparisons:
    """Compares pairs when asked, each once.

    `allowance` bounds the characters of all texts that `may_compare` lets through.
    """

    def __init__(self, allowance: int | None = None) -> None:
        self._known: dict[Hashable, Any] = {}
        self._allowance = allowance
        self._allowed: set[frozenset[str]] = set()

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

    def may_compare(self, texts: Collection[str]) -> bool:
        """Tell whether texts are few and short enough to be compared while a reader waits."""
        distinct = frozenset(texts)
        if len(distinct) > MAX_MEMBERS or lengths.too_long_together(distinct):
            return False
        if self._allowance is not None and distinct not in self._allowed:
            size = sum(map(len, distinct))
            if size > self._allowance:
                return False
            self._allowance -= size
            self._allowed.add(distinct)
        return True

    def making(self, claim: str, texts: Sequence[str]) -> list[bool]:
        """Tell of each text whether it makes the claim.

        Of what is too long to compare together only the same letters do.
        """
        if self.may_compare([claim, *texts]):
            return [self.says_the_same(text, claim) for text in texts]
        return [same_letters(text, claim) for text in texts]

    def demand_known(self) -> None:
        """Raise `NotComparedError` when something was asked that is not known."""

    def _answer(self, compare: Callable[[Any, Any], Any], a: Any, b: Any, *, otherwise: Any) -> Any:
        if (known := self._look_up(compare, a, b)) is _ABSENT:
            known = self._compare(compare, a, b)
        return known

    def _look_up(self, compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        key = (compare, a, b)
        if key not in self._known and (kept := KEPT.get(compare, a, b)) is not _ABSENT:
            self._known[key] = kept
        return self._known.get(key, _ABSENT)

    def _compare(self, compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        self._known[(compare, a, b)] = answer = compare(a, b)
        KEPT.put(compare, a, b, answer)
        return answer


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
        for asked in self._missed.values():
            self._compare(*asked)
        self._missed.clear()

    def _answer(self, compare: Callable[[Any, Any], Any], a: Any, b: Any, *, otherwise: Any) -> Any:
        known = self._look_up(compare, a, b)
        if known is not _ABSENT:
            return known
        self._missed[(compare, a, b)] = (compare, a, b)
        return otherwise


def _digest(compare: Callable[[Any, Any], Any], a: Any, b: Any) -> bytes:
    asked = repr((compare.__name__, a, b))
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).digest()


def _relation(a: str, b: str) -> Relation:
    return claims.compare(a, b).relation


def _are_of_other_subjects(a: Note, b: Note) -> bool:
    return subjects.are_of_other_subjects(a, b)
