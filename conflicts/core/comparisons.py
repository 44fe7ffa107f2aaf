"""Compare pairs of texts by the rules, each pair once, and never while locks are held.

Comparing two long texts takes up to 0.2 s. Callers that hold locks use `LookUps`: answers are
looked up, and missing ones are compared after the locks are released. The texts are the keys, so an
answer is never used for a changed text. A process caches its newest answers by the hash of the
texts.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Sequence
from threading import Lock
from typing import Any, Final

from conflicts.core import subjects
from conflicts.core.parts import MAX_MEMBERS
from conflicts.core.subjects import LocatedText
from memories.core import claims, comparing
from memories.core.claims import Relation
from memories.core.spelling import same_letters

MAX_KEPT: Final = 8192  # answers
_ABSENT: Final = object()


class NotComparedError(Exception):
    """Raised when a looked-up pair has not been compared yet."""


class KeptAnswers:
    """Cache of answers by the hash of the pair; it stores no text and evicts the oldest answers."""

    def __init__(self, most: int = MAX_KEPT) -> None:
        self._most = most
        self._answers: OrderedDict[bytes, Any] = OrderedDict()
        self._lock = Lock()

    def get(self, compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        """Return the answer, or `_ABSENT`."""
        return self._answers.get(_digest(compare, a, b), _ABSENT)

    def put(self, compare: Callable[[Any, Any], Any], a: Any, b: Any, answer: Any) -> None:
        """Store an answer."""
        with self._lock:
            self._answers[_digest(compare, a, b)] = answer
            if len(self._answers) > self._most:
                self._answers.popitem(last=False)


KEPT = KeptAnswers()


class Comparisons:
    """Compare pairs on demand, each once.

    `allowance` limits the characters of all texts that `may_compare` accepts.
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
        """Return whether two texts make the same claim."""
        return a == b or self.relation(a, b) == "same"

    def are_of_other_subjects(self, a: LocatedText, b: LocatedText) -> bool:
        """Return whether two memories clearly have different subjects."""
        return bool(self._answer(_are_of_other_subjects, a, b, otherwise=False))

    def may_compare(self, texts: Collection[str]) -> bool:
        """Return whether texts are few and short enough to be compared while a caller waits."""
        distinct = frozenset(texts)
        if len(distinct) > MAX_MEMBERS or comparing.too_long_together(distinct):
            return False
        if self._allowance is not None and distinct not in self._allowed:
            size = sum(map(len, distinct))
            if size > self._allowance:
                return False
            self._allowance -= size
            self._allowed.add(distinct)
        return True

    def match_claim(self, claim: str, texts: Sequence[str]) -> list[bool]:
        """Return for each text whether it makes the claim.

        Texts that are too long to compare count only when their letters are equal.
        """
        if self.may_compare([claim, *texts]):
            return [self.says_the_same(text, claim) for text in texts]
        return [same_letters(text, claim) for text in texts]

    def demand_known(self) -> None:
        """Raise `NotComparedError` when an answer was missing."""

    def _answer(self, compare: Callable[[Any, Any], Any], a: Any, b: Any, *, otherwise: Any) -> Any:
        if (known := self._look_up(compare, a, b)) is _ABSENT:
            known = self._compare(compare, a, b)
        return known

    def _look_up(self, compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        key = (compare, a, b)
        known = self._known.get(key, _ABSENT)
        if known is _ABSENT and (kept := KEPT.get(compare, a, b)) is not _ABSENT:
            known = self._known[key] = kept
        return known

    def _compare(self, compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        self._known[(compare, a, b)] = answer = compare(a, b)
        KEPT.put(compare, a, b, answer)
        return answer


class LookUps(Comparisons):
    """Look answers up; compare nothing until `compare_missing`.

    A missing answer is noted, and a placeholder is returned: results that depend on it must not be
    committed, which `demand_known` enforces.
    """

    def __init__(self) -> None:
        super().__init__()
        self._missed: dict[Hashable, tuple[Callable[[Any, Any], Any], Any, Any]] = {}

    @property
    def is_missing(self) -> bool:
        """Return whether an answer was missing."""
        return bool(self._missed)

    def demand_known(self) -> None:
        """Raise `NotComparedError` when an answer was missing."""
        if self._missed:
            raise NotComparedError

    def compare_missing(self) -> None:
        """Compare the missing pairs; the caller holds no lock."""
        for missing in self._missed.values():
            self._compare(*missing)
        self._missed.clear()

    def _answer(self, compare: Callable[[Any, Any], Any], a: Any, b: Any, *, otherwise: Any) -> Any:
        known = self._look_up(compare, a, b)
        if known is not _ABSENT:
            return known
        self._missed[(compare, a, b)] = (compare, a, b)
        return otherwise


def _digest(compare: Callable[[Any, Any], Any], a: Any, b: Any) -> bytes:
    key = repr((compare.__name__, a, b))
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _relation(a: str, b: str) -> Relation:
    return claims.compare(a, b).relation


def _are_of_other_subjects(a: LocatedText, b: LocatedText) -> bool:
    return subjects.are_of_other_subjects(a, b)
