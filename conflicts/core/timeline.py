"""Index the facts of a workspace, oldest first, and find the neighbours of each."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Final, overload

import numpy as np
import numpy.typing as npt

from conflicts.core.cues import Cue, cues
from conflicts.core.facts import DetectiveSettings, Fact
from conflicts.core.siblings import Siblings, find_siblings
from conflicts.core.statements import Statement, read
from memories.core.answer_values import compare_values, is_measured
from memories.core.spelling import collapse
from memories.core.topic_words import stems

PRIOR_FACTS: Final = 16.0
MAX_WEIGHT: Final = 2.0
BLOCK_FACTS: Final = 128  # rows of cosines held at once
# Texts with few common words need a high cosine, and the other way round.
WEIGHT_FOR_COSINE: Final = 0.08
MAX_WEIGHED: Final = 8.0

Vectors = npt.NDArray[np.float32]


def conversations(facts: Sequence[Fact], minutes: float) -> list[str]:
    """Name the conversation of each fact, oldest first; "" without a session.

    Facts of one writer, session, project and scope go on with a conversation while each comes at
    most ``minutes`` after the one before.
    """
    latest: dict[tuple[str, ...], tuple[datetime, str]] = {}
    names = []
    for fact in facts:
        key = (fact.writer, fact.session_key, fact.project, fact.scope)
        before = latest.get(key)
        goes_on = before and fact.observed_at - before[0] <= timedelta(minutes=minutes)
        name = before[1] if before and goes_on else fact.id
        latest[key] = (fact.observed_at, name)
        names.append(name if fact.session_key else "")
    return names


def _as_read(fact: Fact) -> Fact:
    """Return a fact as the rules read it: with single blanks, and with what changed in value.

    An earlier answer that spells the same amount or time otherwise is none ("6 am", "6:00").
    """
    content = collapse(fact.content)
    answers = tuple(
        replace(one, was=None) if one.was and _is_one_value(one.was, one.answer) else one
        for one in fact.answers
    )
    is_read = content == fact.content and answers == fact.answers
    return fact if is_read else replace(fact, content=content, answers=answers)


def _is_one_value(a: str, b: str) -> bool:
    return is_measured(a) and is_measured(b) and compare_values(a, b) == "same"


class _Statements(Sequence[Statement]):
    """The facts as statements, parsed on first access."""

    def __init__(self, facts: Sequence[Fact], talks: Sequence[str]):
        self._facts, self._talks = facts, talks
        self._read: dict[int, Statement] = {}

    def __len__(self) -> int:
        return len(self._facts)

    @overload
    def __getitem__(self, index: int) -> Statement: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Statement]: ...
    def __getitem__(self, index: int | slice) -> Statement | Sequence[Statement]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index not in self._read:
            self._read[index] = read(self._facts[index], self._talks[index])
        return self._read[index]


class Timeline:
    """Facts oldest first, with an inverted index of stems and their vectors.

    Parameters
    ----------
    facts
        Live facts, any order.
    vectors
        ``(len(facts), dimension)`` unit vectors; rows of zeros or NaN are not embedded.
    settings
        Thresholds.

    Only facts that are asked for are read closely; the index needs their stems alone.
    """

    def __init__(self, facts: Sequence[Fact], vectors: Vectors, settings: DetectiveSettings):
        if vectors.shape[0] != len(facts):
            raise ValueError(f"{len(facts)} facts but {vectors.shape[0]} vectors")
        order = sorted(range(len(facts)), key=lambda i: (facts[i].observed_at, facts[i].id))
        self.settings = settings
        self.facts = [_as_read(facts[i]) for i in order]
        self.statements: Sequence[Statement] = _Statements(
            self.facts, conversations(self.facts, settings.session_minutes)
        )
        self._stems = [frozenset(stems(fact.content)) for fact in self.facts]
        self.vectors: Vectors = np.nan_to_num(vectors[order].astype(np.float32, copy=True))
        self._is_embedded: npt.NDArray[np.bool_] = np.abs(self.vectors).sum(axis=1) > 0
        self.position = {fact.id: i for i, fact in enumerate(self.facts)}
        self._facts_of: dict[str, list[int]] = defaultdict(list)
        for i, words in enumerate(self._stems):
            for stem in words:
                self._facts_of[stem].append(i)
        self._near: dict[int, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self.facts)

    @cached_property
    def siblings(self) -> Siblings:
        """What the facts tell apart by the words before their nouns."""
        return find_siblings(fact.content for fact in self.facts)

    def has_cue(self, i: int, *wanted: Cue) -> bool:
        """Return whether fact ``i`` has one of the cues, without parsing it fully."""
        return not cues(self.facts[i].content).isdisjoint(wanted)

    def weight(self, stem: str) -> float:
        """Return how rare a stem is here, from about 0 (in all facts) to `MAX_WEIGHT` (in two).

        Inverse document frequency with a prior of `PRIOR_FACTS` facts that lack the stem, scaled
        so that a word of two facts weighs the same in small and in large workspaces.
        """
        count = len(self._facts_of.get(stem, ()))
        if not count:
            return 0.0
        total = len(self) + PRIOR_FACTS
        return MAX_WEIGHT * math.log(total / max(count, 2)) / math.log(total / 2)

    def overlap(self, stems: Collection[str]) -> float:
        """Return the sum of the weights of ``stems``, the same in any order of a set."""
        return math.fsum(map(self.weight, stems))

    def weigh(self, stems: Collection[str], a: Statement, b: Statement) -> float:
        """Return the weight of stems shared by two facts; names of either count 1.5 times."""
        names = a.names | b.names
        return math.fsum(self.weight(stem) * (1.5 if stem in names else 1.0) for stem in stems)

    def cosine(self, i: int, j: int) -> float:
        """Return the cosine of two facts; without an embedding, its estimate from shared words."""
        if self._is_embedded[i] and self._is_embedded[j]:
            return float(self.vectors[i] @ self.vectors[j])
        a, b = self._stems[i], self._stems[j]
        shared = self.overlap(a & b)
        return shared and 0.3 + 0.7 * shared / math.sqrt(self.overlap(a) * self.overlap(b))

    def nearness(self, i: int, j: int) -> float:
        """Return meaning and words together: the cosine, and the weight of the words of both."""
        shared = self.overlap(self._stems[i] & self._stems[j])
        return self.cosine(i, j) + WEIGHT_FOR_COSINE * min(shared, MAX_WEIGHED)

    def is_among_nearest(self, i: int, j: int, most: int) -> bool:
        """Return whether fewer than ``most`` neighbours of fact ``i`` are nearer to it than ``j``.

        The more facts a workspace has, the more of them share a word by chance; the facts about
        one matter are nearer to each other than these.
        """
        limit = self.nearness(i, j)
        others = (k for k in self.neighbours(i) if k != j and self.nearness(i, k) > limit)
        return sum(1 for _ in islice(others, most)) < most

    def are_among_nearest(self, i: int, j: int, most: int) -> bool:
        """Return whether `is_among_nearest` holds for both facts."""
        return self.is_among_nearest(i, j, most) and self.is_among_nearest(j, i, most)

    def facts_with(self, stem: str) -> Sequence[int]:
        """Return the facts that have a stem, oldest first."""
        return self._facts_of.get(stem, ())

    def is_rare(self, stem: str) -> bool:
        """Return whether a stem is rare enough to find neighbours by it."""
        limit = max(self.settings.min_term_facts, self.settings.max_term_share * len(self))
        return 1 < len(self._facts_of.get(stem, ())) <= limit

    def is_shared_by_two(self, stem: str) -> bool:
        """Return whether exactly two facts have the stem."""
        return len(self._facts_of.get(stem, ())) == 2

    def neighbours(self, i: int) -> tuple[int, ...]:
        """Return the facts to compare with fact ``i``: nearest by cosine or shared rare words."""
        if i not in self._near:
            self.prepare([i])
        return self._near[i]

    def prepare(self, positions: Iterable[int]) -> None:
        """Compute the neighbours of many facts at once, which is faster than one by one."""
        missing = sorted({i for i in positions if i not in self._near})
        for start in range(0, len(missing), BLOCK_FACTS):
            block = missing[start : start + BLOCK_FACTS]
            similar = self.vectors[block] @ self.vectors.T
            for i, row in zip(block, similar, strict=True):
                row[i] = -1.0
                near = {*self._by_meaning(row), *self._by_words(i)}
                self._near[i] = tuple(sorted(near))

    def _by_meaning(self, similar: npt.NDArray[np.float32]) -> list[int]:
        close = np.flatnonzero(similar >= self.settings.neighbour_cosine)
        best = close[np.argsort(-similar[close], kind="stable")]
        return [int(j) for j in best[: self.settings.max_neighbours]]

    def _by_words(self, i: int) -> list[int]:
        shared: dict[int, float] = defaultdict(float)
        for stem in sorted(self._stems[i]):
            if self.is_rare(stem):
                weight = self.weight(stem)
                for j in self._facts_of[stem]:
                    shared[j] += weight
        shared.pop(i, None)
        return sorted(shared, key=lambda j: (-shared[j], j))[: self.settings.max_neighbours]
