"""Measure learning curves of rankers against the truth.

All rankers of a run learn from the same log. Its sessions were served by the first ranker of the
run, retrained at every checkpoint, so that labels depend on what was shown, as in production;
before its first training nothing is scored and the judge reads what the baseline ranks first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engram.console.evaluation.simulation.life import Lived, live, order_of, truth_ndcg
from engram.console.evaluation.simulation.plans import WorldPlan
from engram.console.evaluation.simulation.sessions import SimulatedSession, Simulator
from predictor.core.types import Candidates, Context, LabelledSession

CHECKPOINTS = (0, 10, 30, 100, 300, 500)
TESTS = 60
ALPHA_AFTER = ((0, 1.0), (30, 0.5))  # the baseline's weight in the log, from a session on


class Learner(Protocol):
    """A ranker: it learns from labelled sessions and scores candidates."""

    def fit(self, sessions: Sequence[LabelledSession], *, rng: np.random.Generator) -> object:
        """Learn from all sessions so far."""

    def score(self, context: Context, candidates: Candidates, /) -> NDArray[np.floating]:
        """Return scores (n,)."""


@dataclass(frozen=True, slots=True)
class Known:
    """The memories with an embedding that are stored when a ranker is created."""

    embeddings: NDArray[np.float32]
    texts: Sequence[NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranking of a test session's pool, and the number of training sessions of its ranker."""

    ranker: str
    learned_from: int
    session: SimulatedSession
    order: Sequence[int]


Maker = Callable[[Known, np.random.Generator], Learner]


@dataclass(frozen=True, slots=True)
class Curves:
    """nDCG@10 against the truth by ranker and number of sessions, one figure a test session.

    `bounds` are figures without learning: of the baseline and its parts, the cosine, a random
    order, the truth, and the user's exact habits.
    """

    plan: WorldPlan
    seed: int
    bounds: dict[str, list[float]]
    learned: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    fit_cpu_seconds: dict[str, dict[int, float]] = field(default_factory=dict)


def run(
    plan: WorldPlan,
    seed: int,
    makers: Mapping[str, Maker],
    *,
    checkpoints: Sequence[int] = CHECKPOINTS,
    tests: int = TESTS,
    clock: Callable[[], float] = lambda: 0.0,
    advance: Callable[[int], object] = lambda _: None,
    record: Callable[[Ranked], object] = lambda _: None,
) -> Curves:
    """Measure rankers in one world; tests are sessions after the last one learned from.

    Parameters
    ----------
    makers : by name; the first serves the log.
    clock : processor seconds, for the cost of a fit.
    advance : called with 1 after each fit.
    record : called with every ranking of a test session.
    """
    simulator = Simulator(plan, seed, sessions=checkpoints[-1] + tests)
    held_out = [simulator.session(checkpoints[-1] + i) for i in range(tests)]
    held_out = [session for session in held_out if session.relevance.max() > 0]
    curves = Curves(plan, seed, bounds(held_out, np.random.default_rng((seed, 3))))
    log: list[Lived] = []
    rng = np.random.default_rng((seed, 4))
    serving: Learner | None = None
    for checkpoint in checkpoints:
        while len(log) < checkpoint:
            session = simulator.session(len(log))
            scores = serving.score(session.context, session.candidates) if serving else None
            log.append(live(session, plan, scores, alpha=_alpha(len(log)), rng=rng))
        lessons = [lived.labelled for lived in log if lived.labelled is not None]
        known = known_at(simulator, checkpoint)
        serving = None
        for name, make in makers.items():
            learner = make(known, np.random.default_rng((seed, 5)))
            began = clock()
            if lessons:
                learner.fit(lessons, rng=np.random.default_rng((seed, 6)))
            curves.fit_cpu_seconds.setdefault(name, {})[checkpoint] = clock() - began
            orders = [order_of(learner.score(s.context, s.candidates)) for s in held_out]
            curves.learned.setdefault(name, {})[checkpoint] = [
                truth_ndcg(session, order) for session, order in zip(held_out, orders, strict=True)
            ]
            for session, order in zip(held_out, orders, strict=True):
                record(Ranked(name, checkpoint, session, order))
            if lessons:
                serving = serving or learner
            advance(1)
    return curves


def known_at(simulator: Simulator, index: int) -> Known:
    """Return the memories with an embedding that are stored when a session starts."""
    memories = simulator.world.memories
    ids = simulator.known_at(index)
    ids = ids[memories.is_embedded[ids]]
    return Known(memories.embeddings[ids], [memories.tokens[i] for i in ids])


def bounds(
    sessions: Sequence[SimulatedSession], rng: np.random.Generator
) -> dict[str, list[float]]:
    """Return nDCG@10 of rankings without learning."""
    return {
        "baseline": [truth_ndcg(s, range(len(s.ids))) for s in sessions],
        "recall": [truth_ndcg(s, order_of(s.recall)) for s in sessions],
        "decayed importance": [truth_ndcg(s, order_of(s.effectiveness)) for s in sessions],
        "cosine": [truth_ndcg(s, order_of(s.cosine)) for s in sessions],
        "random": [truth_ndcg(s, rng.permutation(len(s.ids)).tolist()) for s in sessions],
        "habits known": [truth_ndcg(s, order_of(s.knowable)) for s in sessions],
        "oracle": [truth_ndcg(s, order_of(s.relevance)) for s in sessions],
    }


def _alpha(index: int) -> float:
    return next(alpha for since, alpha in reversed(ALPHA_AFTER) if index >= since)
