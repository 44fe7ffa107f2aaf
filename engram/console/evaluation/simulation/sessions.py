"""Simulate sessions of a user: their times, the pool of candidates, and its relevance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engram.console.evaluation.simulation.plans import WorldPlan
from engram.console.evaluation.simulation.world import (
    IMPORTANCE_DEVIATION,
    SESSIONS_A_DAY,
    SLOT_HOURS,
    Floats,
    context_words,
    make_world,
)
from memories.core.baseline import KEPT_A_DAY, score_for_context
from memories.core.bm25 import idf
from memories.core.fusion import first_scorer
from predictor.core import features
from predictor.core.types import Candidates, Context

SHARPNESS = 4.0
LEAST_RELEVANCE = 0.05  # smaller values are 0: most of a pool is irrelevant
CALIBRATION_SESSIONS = 60
MONTH_DAYS = 365.25 / 12
KEPT_DAYS = 30  # days that a superseded memory stays a candidate
EFFECTIVE_SHARE = 0.3  # of a pool: the best by decayed importance
LINKED = 8  # members of a pool that neither these nor recall rank high


@dataclass(frozen=True, slots=True)
class SimulatedSession:
    """A session with its pool in the baseline's order, and the hidden truth.

    Parameters
    ----------
    ids : (n,) rows of `World.memories`.
    baseline : (n,) the baseline's scores, falling.
    recall, effectiveness : (n,) the parts of the baseline's scores.
    cosine : (n,) with the session's context; 0 where a memory has no embedding.
    relevance : (n,) in [0, 1].
    knowable : (n,) the utility by habits alone, without this session's noise.
    """

    index: int
    context: Context
    candidates: Candidates
    ids: NDArray[np.int64]
    baseline: Floats
    recall: Floats
    effectiveness: Floats
    cosine: Floats
    relevance: Floats
    knowable: Floats


@dataclass(frozen=True, slots=True)
class Situation:
    """The user's activity and its time, and the random generator after drawing them."""

    day: float
    project: int
    topic: int
    context: Context
    embedding: NDArray[np.float32]
    words: NDArray[np.int64]
    rng: np.random.Generator


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidate memories, best first by the baseline; all columns (n,)."""

    ids: NDArray[np.int64]
    baseline: Floats
    recall: Floats
    effectiveness: Floats
    cosine: Floats


class Simulator:
    """Sessions of one world by index; each has its own random generator."""

    def __init__(self, plan: WorldPlan, seed: int, *, sessions: int) -> None:
        self.plan = plan
        self.world = make_world(plan, seed, sessions=sessions)

    def session(self, index: int) -> SimulatedSession:
        """Return session ``index``, the same at every call."""
        situation = self._situation(index)
        pool = self._pool(situation)
        known, utility = self._utilities(index, situation, pool)
        relevance = 1 / (1 + np.exp(-SHARPNESS * (utility - self._threshold)))
        relevance[relevance < LEAST_RELEVANCE] = 0.0
        return SimulatedSession(
            index,
            situation.context,
            self._candidates(situation, pool),
            pool.ids,
            pool.baseline,
            pool.recall,
            pool.effectiveness,
            pool.cosine,
            relevance,
            known,
        )

    def known_at(self, index: int) -> NDArray[np.int64]:
        """Return the rows of memories that are stored when a session starts."""
        return np.flatnonzero(self.world.memories.created < index // SESSIONS_A_DAY)

    @cached_property
    def _threshold(self) -> float:
        """Return the utility that the plan's share of a pool exceeds in the first sessions."""
        utilities = []
        for index in range(CALIBRATION_SESSIONS):
            situation = self._situation(index)
            utilities.append(self._utilities(index, situation, self._pool(situation))[1])
        return float(np.quantile(np.concatenate(utilities), 1 - self.plan.relevant))

    def _situation(self, index: int) -> Situation:
        plan, habits = self.plan, self.world.habits_at(index)
        rng = np.random.default_rng((self.world.seed, 1, index))
        day, weekday, hour = self._when(index)
        odds = habits.project_of[weekday, index % SESSIONS_A_DAY]
        project = int(rng.choice(plan.projects, p=odds))
        topic = self._topic(rng, habits.preference[project], project)
        embedding = self._context_embedding(rng, topic)
        gap = (day - self._when(index - 1)[0]) * 24 if index else 0.0
        context = Context(
            embedding,
            project if rng.random() < plan.tagged else None,
            hour,
            weekday + hour / 24,
            (day / MONTH_DAYS) % 12,
            gap,
        )
        own = np.random.default_rng((self.world.seed, 8, index))
        words = context_words(own, self.world.memories.words, topic)
        return Situation(day, project, topic, context, embedding, words, rng)

    def _when(self, index: int) -> tuple[float, int, float]:
        """Return the day, its weekday and the hour of a session."""
        whole, slot = divmod(index, SESSIONS_A_DAY)
        jitter = np.random.default_rng((self.world.seed, 2, index)).uniform(-0.9, 0.9)
        hour = SLOT_HOURS[slot] + float(jitter)
        return whole + hour / 24, whole % 7, hour

    def _topic(self, rng: np.random.Generator, preference: Floats, project: int) -> int:
        if self.plan.is_across:
            odds = np.exp(0.5 * preference)
            return int(rng.choice(self.plan.topics, p=odds / odds.sum()))
        return int(rng.choice(np.flatnonzero(self.world.places.project_of == project)))

    def _context_embedding(self, rng: np.random.Generator, topic: int) -> NDArray[np.float32]:
        places, width = self.world.places, self.plan.width
        other = places.topics[int(rng.integers(self.plan.topics))]
        noise = self.plan.context_noise * rng.normal(size=width) / np.sqrt(width)
        mixed = 0.4 * places.common + places.topics[topic] + 0.35 * other + noise
        return np.asarray(mixed / np.linalg.norm(mixed), np.float32)

    def _pool(self, situation: Situation) -> Pool:
        """Choose the pool: the best by decayed importance and by recall, some of the project."""
        memories, size, day = self.world.memories, self.plan.pool, situation.day
        alive = np.flatnonzero((memories.created < day) & (day < memories.superseded + KEPT_DAYS))
        worth = memories.importance[alive] * KEPT_A_DAY ** (day - memories.created[alive])
        cosine = (memories.embeddings[alive] @ situation.embedding).astype(np.float64)
        cosine *= memories.is_embedded[alive]
        recall = self._recall(situation, alive, cosine)
        totals = [
            score_for_context(*parts).total
            for parts in zip(recall.tolist(), worth.tolist(), strict=True)
        ]
        baseline = np.array(totals)
        first = np.argsort(-worth, kind="stable")[: int(EFFECTIVE_SHARE * size)]
        related = np.argsort(-recall, kind="stable")
        linked = np.flatnonzero(memories.project[alive] == situation.project)
        linked = situation.rng.permutation(linked)[:LINKED]
        chosen = dict.fromkeys([*first, *related[: size - len(first) - LINKED], *linked, *related])
        ids = np.array(sorted(list(chosen)[:size], key=lambda i: -baseline[i]))
        return Pool(alive[ids], baseline[ids], recall[ids], worth[ids], cosine[ids])

    def _recall(self, situation: Situation, alive: NDArray[np.int64], cosine: Floats) -> Floats:
        """Return the scores of recall's first stage: words by their rarity, and the cosine."""
        words = situation.words.tolist()
        n = len(self.world.memories)
        weights = [idf(len(self._holding.get(word, ())), n) for word in words]
        text = np.zeros(n)
        for word, weight in zip(words, weights, strict=True):
            text[self._holding.get(word, [])] += weight / sum(weights)
        first = first_scorer(has_vector=True, has_terms=True)
        return np.array([first(*parts) for parts in zip(cosine, text[alive], strict=True)])

    @cached_property
    def _holding(self) -> dict[int, list[int]]:
        """Return the rows of the memories that hold each word."""
        found: dict[int, list[int]] = {}
        for row, words in enumerate(self.world.memories.tokens):
            for word in words.tolist():
                found.setdefault(word, []).append(row)
        return found

    def _utilities(self, index: int, situation: Situation, pool: Pool) -> tuple[Floats, Floats]:
        """Return the utility by habits alone, and with the noise of this session."""
        plan, memories, habits = self.plan, self.world.memories, self.world.habits_at(index)
        topic, age = memories.topic[pool.ids], situation.day - memories.created[pool.ids]
        from_peak = situation.context.hour - habits.peak_hour[topic]
        known = (
            plan.topic * habits.goes_with[situation.topic, topic]
            + plan.project * (memories.project[pool.ids] == situation.project)
            + plan.preference * habits.preference[situation.project, topic]
            + plan.kind * habits.kind_sign * memories.kind[pool.ids]
            + plan.hour * np.cos(2 * np.pi * from_peak / 24)
            + plan.importance * (memories.importance[pool.ids] - 0.5) / IMPORTANCE_DEVIATION
            + plan.recency * np.exp(-age / 10)
            + plan.use * memories.usefulness[pool.ids]
            - plan.superseded * (memories.superseded[pool.ids] < situation.day)
        )
        return known, known + plan.noise * situation.rng.normal(size=len(pool.ids))

    def _candidates(self, situation: Situation, pool: Pool) -> Candidates:
        memories, context = self.world.memories, situation.context
        ids, age = pool.ids, situation.day - memories.created[pool.ids]
        is_embedded = memories.is_embedded[ids]
        columns = features.signals(
            age_days=age,
            importance=memories.importance[ids],
            access_count=np.floor(memories.access_rate[ids] * age),
            hour=context.hour,
            weekday=context.weekday,
            month=context.month,
            gap_hours=context.gap_hours,
            is_embedded=is_embedded,
            is_superseded=memories.superseded[ids] < situation.day,
        )
        return Candidates(
            memories.embeddings[ids] * is_embedded[:, None],
            is_embedded,
            [memories.tokens[i] for i in ids],
            columns,
            features.log_effectiveness(pool.effectiveness),
            baseline=pool.baseline,
        )
