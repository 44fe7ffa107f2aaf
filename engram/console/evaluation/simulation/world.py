"""Simulate a user's memories: topics, embeddings and usefulness.

The utility of memory i in session s of topic k and project p:

    u = topic · A[k, k_i] + project · [p = p_i] + preference · B[p, k_i] + kind · κ_i
        + hour · cos(2π (h - peak[k_i]) / 24) + importance · z_i + recency · exp(-age / 10)
        + use · υ_i - superseded · [superseded] + noise · N(0, 1)

and its relevance σ(4 (u - θ)), where θ leaves the plan's share of a pool relevant. A holds the
topic itself and one other that goes with it, B and the hours are drawn; with a drift they are drawn
again, and the sign of κ changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engram.console.evaluation.simulation.plans import WorldPlan
from predictor.core.types import TOKEN_BUCKETS

Floats = NDArray[np.float64]

SESSIONS_A_DAY = 4
SLOT_HOURS = (9.0, 11.0, 14.0, 16.5)
IMPORTANCE_DEVIATION = 1 / 6  # of Beta(4, 4)
WARM_DAYS = 120  # memories were written this long before the first session
TOPIC_WORDS, KIND_WORDS, WORDS = 40, 25, 24
COMMON_WORDS = 3000
CONTEXT_TOPIC_WORDS, CONTEXT_COMMON_WORDS = 4, 6


@dataclass(frozen=True, slots=True)
class Habits:
    """What the user does when, and which memories are then relevant."""

    project_of: Floats  # (7 weekdays, 4 slots, projects) odds
    goes_with: Floats  # A: (topics, topics)
    preference: Floats  # B: (projects, topics)
    peak_hour: Floats  # (topics,)
    kind_sign: float


@dataclass(frozen=True, slots=True)
class EmbeddingPositions:
    """Positions in the embedding space: unit rows."""

    common: Floats  # (width,) what all embeddings share
    projects: Floats  # (projects, width)
    topics: Floats  # (topics, width)
    kind: Floats  # (width,)
    project_of: NDArray[np.int64]  # (topics,), where topics belong to projects


@dataclass(frozen=True, slots=True)
class Words:
    """The tokens that texts are made of."""

    of_topic: NDArray[np.int64]  # (topics, TOPIC_WORDS)
    of_kind: NDArray[np.int64]  # (2, KIND_WORDS)
    common: NDArray[np.int64]  # (COMMON_WORDS,) the commonest first


@dataclass(frozen=True, slots=True)
class Memories:
    """All memories that the user ever stores, as columns."""

    topic: NDArray[np.int64]
    project: NDArray[np.int64]
    kind: Floats
    usefulness: Floats
    importance: Floats
    created: Floats  # day
    superseded: Floats  # day, infinite when never
    access_rate: Floats  # a day
    is_embedded: NDArray[np.bool_]
    embeddings: NDArray[np.float32]  # unit rows
    tokens: tuple[NDArray[np.int64], ...]
    words: Words

    def __len__(self) -> int:
        return len(self.topic)


@dataclass(frozen=True, slots=True)
class World:
    """A plan with everything drawn that is constant over sessions."""

    plan: WorldPlan
    seed: int
    places: EmbeddingPositions
    habits: Habits
    later: Habits  # from `Plan.drifts_at` on
    memories: Memories

    def habits_at(self, session: int) -> Habits:
        """Return the habits at a session."""
        drifts_at = self.plan.drifts_at
        return self.habits if drifts_at is None or session < drifts_at else self.later


def make_world(plan: WorldPlan, seed: int, *, sessions: int) -> World:
    """Draw a world whose memories are written until ``sessions`` sessions have passed."""
    rng = np.random.default_rng((seed, 0))
    places = _places(rng, plan)
    habits = _habits(rng, plan, sign=1.0)
    later = _habits(rng, plan, sign=-1.0)
    return World(plan, seed, places, habits, later, _memories(rng, plan, sessions, places))


def _places(rng: np.random.Generator, plan: WorldPlan) -> EmbeddingPositions:
    projects = _units(rng, plan.projects, plan.width)
    topics = _units(rng, plan.topics, plan.width)
    project_of = rng.permutation(np.arange(plan.topics) % plan.projects)
    if not plan.is_across:
        topics = _normalise(topics + 0.6 * projects[project_of])
    common, kind = _units(rng, 2, plan.width)
    return EmbeddingPositions(common, projects, topics, kind, project_of)


def _habits(rng: np.random.Generator, plan: WorldPlan, *, sign: float) -> Habits:
    goes_with = np.eye(plan.topics)
    goes_with[np.arange(plan.topics), rng.permutation(plan.topics)] += 0.7
    return Habits(
        rng.dirichlet(np.full(plan.projects, 0.25), size=(7, len(SLOT_HOURS))),
        goes_with,
        rng.normal(size=(plan.projects, plan.topics)),
        rng.uniform(8, 18, plan.topics),
        sign,
    )


def _memories(
    rng: np.random.Generator, plan: WorldPlan, sessions: int, places: EmbeddingPositions
) -> Memories:
    n = plan.memories
    topic = rng.integers(plan.topics, size=n)
    project = rng.integers(plan.projects, size=n) if plan.is_across else places.project_of[topic]
    kind = rng.normal(size=n)
    usefulness = rng.normal(size=n)
    embeddings = _normalise(
        0.4 * places.common
        + places.topics[topic]
        + 0.3 * places.projects[project]
        + 0.15 * kind[:, None] * places.kind
        + 0.8 * rng.normal(size=(n, plan.width)) / np.sqrt(plan.width)
    )
    created = np.sort(rng.uniform(-WARM_DAYS, sessions / SESSIONS_A_DAY, n))
    is_replaced = rng.random(n) < 0.08
    importance = rng.beta(4, 4, n)
    superseded = np.where(is_replaced, created + rng.exponential(30, n), np.inf)
    access_rate = 0.05 * np.exp(0.8 * usefulness + 0.3 * rng.normal(size=n))
    is_embedded = rng.random(n) < plan.embedded
    words = _words(rng, plan)
    return Memories(
        topic,
        project,
        kind,
        usefulness,
        importance=importance,
        created=created,
        superseded=superseded,
        access_rate=access_rate,
        is_embedded=is_embedded,
        embeddings=embeddings.astype(np.float32),
        tokens=_tokens(rng, words, topic, kind),
        words=words,
    )


def context_words(rng: np.random.Generator, words: Words, topic: int) -> NDArray[np.int64]:
    """Draw the words of a session's context: some of its topic, some common ones."""
    own = rng.choice(words.of_topic[topic], CONTEXT_TOPIC_WORDS, replace=False)
    return np.unique(np.concatenate([own, _common(rng, words, CONTEXT_COMMON_WORDS)]))


def _words(rng: np.random.Generator, plan: WorldPlan) -> Words:
    vocabulary = rng.permutation(TOKEN_BUCKETS)
    common, rest = vocabulary[:COMMON_WORDS], vocabulary[COMMON_WORDS:]
    return Words(
        rest[: plan.topics * TOPIC_WORDS].reshape(plan.topics, TOPIC_WORDS),
        rest[-2 * KIND_WORDS :].reshape(2, KIND_WORDS),
        common,
    )


def _tokens(
    rng: np.random.Generator, words: Words, topic: NDArray[np.int64], kind: Floats
) -> tuple[NDArray[np.int64], ...]:
    """Draw the words of each memory: of its topic, of its kind, and common ones."""
    drawn = _common(rng, words, (len(topic), WORDS))
    n_topic = rng.poisson(6, len(topic)).clip(0, WORDS)
    n_kind = rng.poisson(np.abs(kind)).clip(0, 4)
    picked = []
    for i, row in enumerate(drawn):
        own = rng.choice(words.of_topic[topic[i]], n_topic[i])
        traits = rng.choice(words.of_kind[int(kind[i] > 0)], n_kind[i])
        picked.append(np.unique(np.concatenate([own, traits, row])).astype(np.int64))
    return tuple(picked)


def _common(
    rng: np.random.Generator, words: Words, size: int | tuple[int, int]
) -> NDArray[np.int64]:
    """Draw common words by Zipf's law."""
    odds = np.cumsum(1.0 / np.arange(10, COMMON_WORDS + 10))
    return np.asarray(words.common[np.searchsorted(odds, rng.random(size) * odds[-1])])


def _units(rng: np.random.Generator, n: int, width: int) -> Floats:
    return _normalise(rng.normal(size=(n, width)))


def _normalise(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))
