"""Collect what facts answer by question: who said what to one question, oldest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np
import numpy.typing as npt

from conflicts.core.answers.additions import AnswerPair, is_fitted_to
from conflicts.core.answers.question_guards import Asked
from conflicts.core.answers.question_words import (
    ask_of_two_things,
    common_nouns,
    only_adds_nouns,
)
from conflicts.core.answers.questions import (
    MIN_COSINE,
    is_one_question,
    may_be_one_question,
    presupposes,
)
from conflicts.core.timeline import Timeline
from memories.core.answers import Answer
from memories.core.topic_words import stems

QuestionVectors = Mapping[str, npt.NDArray[np.float32]]

_ROUNDING: Final = 1e-6
MAX_STATED: Final = 60  # answers to one question that are read, the newest
MAX_OF_A_WORDING: Final = 100  # of them with one wording, the newest
MAX_NAMING: Final = 200  # a word of more answers than this names no thing


@dataclass(frozen=True, slots=True)
class StatedAnswer:
    """An answer and the position of the fact that gives it."""

    position: int
    answer: Answer

    def __hash__(self) -> int:
        return self.position  # quick: pairs are looked up by the hundred thousand


class AnswerIndex:
    """The answers of a timeline's facts, indexed by question.

    Parameters
    ----------
    timeline
        The facts, oldest first.
    vectors
        Unit vector of each question (dim,); a question without one is matched by its words only.
    """

    def __init__(self, timeline: Timeline, vectors: QuestionVectors) -> None:
        self._timeline = timeline
        self._stated: dict[str, list[StatedAnswer]] = {}
        self._wording: dict[str, str] = {}
        for position, fact in enumerate(timeline.facts):
            for answer in fact.answers:
                key = answer.identity
                self._stated.setdefault(key, []).append(StatedAnswer(position, answer))
                self._wording.setdefault(key, answer.question)
        self._listed = sorted(
            (one for many in self._stated.values() for one in many), key=lambda one: one.position
        )
        # Places in the list by the stems of the answer, and by those of question and answer.
        self._naming: dict[str, set[int]] = defaultdict(set)
        self._telling: dict[str, set[int]] = defaultdict(set)
        self._leaving: dict[str, set[int]] = defaultdict(set)
        for place, one in enumerate(self._listed):
            for stem in stems(one.answer.answer):
                self._naming[stem].add(place)
                self._telling[stem].add(place)
            for stem in stems(one.answer.question):
                self._telling[stem].add(place)
            for stem in stems(one.answer.was or ""):
                self._leaving[stem].add(place)
        self._keys = [key for key, text in self._wording.items() if text in vectors]
        self._row = {key: row for row, key in enumerate(self._keys)}
        rows = [vectors[self._wording[key]] for key in self._keys]
        self._vectors = np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def __bool__(self) -> bool:
        return bool(self._stated)

    def about(self, positions: Iterable[int]) -> Iterator[tuple[StatedAnswer, list[StatedAnswer]]]:
        """Yield each answer of the facts with all that was answered to its question."""
        for position in sorted(positions):
            for answer in self._timeline.facts[position].answers:
                asked = StatedAnswer(position, answer)
                found = self.same_question(asked)
                if len(found) > 1:
                    yield asked, found

    def naming_any(self, thing: frozenset[str]) -> list[StatedAnswer]:
        """Return the answers that have one of the stems of a thing, oldest first.

        Stems of more than `MAX_NAMING` answers do not count.
        """
        return self._having_any(self._naming, thing)

    def leaving_any(self, thing: frozenset[str]) -> list[StatedAnswer]:
        """Return the answers whose earlier one has a stem of a thing, as `naming_any` does."""
        return self._having_any(self._leaving, thing)

    def _having_any(
        self, places_of: Mapping[str, set[int]], thing: frozenset[str]
    ) -> list[StatedAnswer]:
        found = (places_of.get(stem, set()) for stem in thing)
        places = {place for some in found if len(some) <= MAX_NAMING for place in some}
        return [self._listed[place] for place in sorted(places)]

    def presupposing(self, thing: frozenset[str]) -> list[StatedAnswer]:
        """Return the answers that name a whole thing in question and answer, oldest first."""
        found = [self._telling.get(stem, set()) for stem in thing]
        places = set.intersection(*found) if found else set()
        return [self._listed[place] for place in sorted(places)[-MAX_NAMING:]]

    def same_question(self, asked: StatedAnswer) -> list[StatedAnswer]:
        """Return what was answered to a question, oldest first, the newest `MAX_STATED`.

        Of several questions that one fact answers, only the nearest is the same one.
        """
        nearest: dict[int, tuple[float, StatedAnswer]] = {}
        for key, cosine in self._near(asked.answer):
            for stated in self._stated[key][-MAX_OF_A_WORDING:]:
                known = nearest.get(stated.position)
                if stated.position != asked.position and (not known or cosine > known[0]):
                    nearest[stated.position] = (cosine, stated)
        newest_first = sorted(nearest.values(), key=lambda one: -one[1].position)
        found = islice(
            (
                stated
                for cosine, stated in newest_first
                if self._is_nearest_of_its_fact(asked, stated, cosine)
                and may_be_one_question(self._asked(asked), self._asked(stated), cosine)
            ),
            MAX_STATED - 1,
        )
        return sorted((*found, asked), key=lambda stated: stated.position)

    def are_one(self, a: StatedAnswer, b: StatedAnswer, *, slack: float = 0.0) -> bool:
        """Return whether two answers, whose questions may be the same, surely are of one."""
        if a.answer.identity == b.answer.identity:
            return True
        cosine = self.cosine(a.answer, b.answer) - self._timeline.settings.question_margin
        return is_one_question(self._asked(a), self._asked(b), cosine, slack=slack)

    def denied_pairs(
        self, fresh: Iterable[int], *, least: float
    ) -> Iterator[tuple[StatedAnswer, StatedAnswer]]:
        """Yield answers of yes or no with later ones whose question presupposes a yes, one fresh.

        The cosine of the two questions is at least ``least``.
        """
        for position in sorted(fresh):
            for answer in self._timeline.facts[position].answers:
                own = StatedAnswer(position, answer)
                for key, cosine in self._near(answer):
                    for other in self._stated[key][-MAX_STATED:] if cosine >= least else ():
                        old, new = sorted((own, other), key=lambda one: one.position)
                        if old.position < new.position and presupposes(
                            self._asked(old), self._asked(new)
                        ):
                            yield old, new

    def share_matter(self, a: StatedAnswer, b: StatedAnswer, *, least: float) -> frozenset[str]:
        """Return the nouns of two questions that may be one if their cosine is at least `least`.

        There are none where `b` only adds nouns, as "the shop's supplier" is not the shop, or where
        both ask of two things in one sentence.
        """
        cosine = self.cosine(a.answer, b.answer)
        asked, other = self._asked(a), self._asked(b)
        if not may_be_one_question(asked, other, cosine, least=least, may_lack_name=True):
            return frozenset()
        texts = a.answer.question, b.answer.question
        if only_adds_nouns(*texts) or ask_of_two_things(*texts):
            return frozenset()
        return common_nouns(*texts)

    def pair_of(self, a: StatedAnswer, b: StatedAnswer) -> AnswerPair | None:
        """Return two answers with their vectors; None where one is missing, or of another model."""
        if not is_fitted_to(self._timeline.settings.embedding_model):
            return None
        asked = [row for one in (a, b) if (row := self._row.get(one.answer.identity)) is not None]
        told = self._timeline.vectors[[a.position, b.position]]
        if len(asked) < 2 or not told.any(axis=1).all():
            return None
        first, second = (self._timeline.facts[one.position].content for one in (a, b))
        return AnswerPair(
            (a.answer.question, b.answer.question),
            (a.answer.answer, b.answer.answer),
            (first, second),
            self._vectors[asked].astype(np.float64),
            told.astype(np.float64),
        )

    def _is_nearest_of_its_fact(
        self, asked: StatedAnswer, other: StatedAnswer, cosine: float
    ) -> bool:
        """Return whether no other question of the asking fact is nearer to the other fact's."""
        return not any(
            self.cosine(answer, other.answer) > cosine + _ROUNDING
            for answer in self._timeline.facts[asked.position].answers
            if answer is not asked.answer
        )

    def cosine(self, a: Answer, b: Answer) -> float:
        """Return the cosine of two questions; 0 where one has no vector."""
        if a.identity == b.identity:
            return 1.0
        mine, theirs = self._row.get(a.identity), self._row.get(b.identity)
        if mine is None or theirs is None:
            return 0.0
        return float(self._vectors[mine] @ self._vectors[theirs])

    def _near(self, answer: Answer) -> Iterator[tuple[str, float]]:
        """Yield the keys of questions near to that of an answer, each with the cosine."""
        key = answer.identity
        row = self._row.get(key)
        if row is None:
            yield key, 1.0
            return
        cosines = self._vectors @ self._vectors[row]
        cosines[row] = 1.0
        for other in np.flatnonzero(cosines >= MIN_COSINE):
            yield self._keys[other], float(cosines[other])

    def _asked(self, stated: StatedAnswer) -> Asked:
        fact = self._timeline.facts[stated.position]
        return Asked(stated.answer.question, fact.content, fact.scope, stated.answer.answer)
