"""Run a predictor for a simulated user: serve, judge, compare, train, govern.

Trainings become due and are mixed as in the product: the first after ten scored sessions, then
one each ten from the newest 80 sessions and the 20 best before; after fifty or a week from all
since the last drift (20 sessions before it was found) and the 20 best before; the mix again at a
drift reset. A fifth of the sessions are canary, drawn anew after a drift.
Lists are drafted from both rankings as often as the governor asks for, and are the only evidence.
Not simulated: that being shown lifts what the judge says (`benchmarks/exposure.py` does),
exploration, diversity, budgets, calibration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engram.console.evaluation.simulation.curves import known_at
from engram.console.evaluation.simulation.life import Lived, live, order_of, truth_ndcg
from engram.console.evaluation.simulation.plans import WorldPlan
from engram.console.evaluation.simulation.sessions import SimulatedSession, Simulator
from engram.console.evaluation.simulation.world import SESSIONS_A_DAY
from predictor.core.comparison import compare
from predictor.core.gates import Canary, check_gates
from predictor.core.governance import Governor, SessionOutcome
from predictor.core.labels import MIN_CONFIDENCE, is_flat
from predictor.core.metrics import ndcg
from predictor.core.scorer import Scorer

FIRST, INTERVAL, FULL = 10, 10, min(50, 7 * SESSIONS_A_DAY)
RECENT, REPLAY = 80, 20
DRIFT_LAG = 20
CANARY_MAX, CANARY_ONE_IN = 25, 5

Scores = NDArray[np.floating]
FixedRanker = Callable[[SimulatedSession], Scores]


@dataclass(frozen=True, slots=True)
class GovernedSession:
    """One session: its weights and phase, its figures, and the training that followed."""

    alpha: float
    phase: str
    margin: float | None  # as judged; None when void
    is_drafted: bool
    served: float  # nDCG@10 against the truth
    baseline: float
    governor: Governor  # after it
    training: str = ""  # why one followed, and "promoted" or the gate that failed
    is_reset: bool = False


@dataclass
class _Training:
    """The sessions so far, and the model that is served."""

    simulator: Simulator
    seed: int
    fixed: FixedRanker | None
    lessons: list[Lived] = field(default_factory=list)
    canary: list[Lived] = field(default_factory=list)
    served: Scorer | None = None
    promoted: int = 0
    scored: int = 0
    scored_at: int = 0
    scored_at_full: int = 0
    current_from: int = 0  # index of the first lesson since the last drift

    def add(self, lived: Lived, rng: np.random.Generator) -> None:
        """Add a session to the lessons or the canary."""
        if lived.labelled is None or is_flat(lived.relevance.values()):
            return
        self.scored += 1
        if rng.random() < 1 / CANARY_ONE_IN:
            self.canary = [*self.canary, lived][-CANARY_MAX:]
        else:
            self.lessons.append(lived)

    def scores(self, session: SimulatedSession) -> Scores | None:
        """Return the predictor's scores of a session's pool; None before it is trained."""
        if not self.promoted:
            return None
        if self.fixed is not None:
            return self.fixed(session)
        if self.served is None:
            return None
        return self.served.score(session.context, session.candidates)

    def due(self, *, is_reset: bool) -> str:
        """Return why a training is due now, "" when none is."""
        if is_reset:
            return "drift"
        newly = self.scored - self.scored_at
        if self.scored < FIRST or not newly:
            return ""
        if not self.promoted:
            return "first" if newly >= INTERVAL else ""
        if self.scored - self.scored_at_full >= FULL:
            return "full"
        return "interval" if newly >= INTERVAL else ""

    def train(self, reason: str, index: int) -> bool:
        """Train a copy and promote it if it passes the gates; return whether it was promoted."""
        self.scored_at = self.scored
        if reason in {"first", "full"}:
            self.scored_at_full = self.scored
        if self.fixed is not None:
            self.promoted += 1
            return True
        if reason == "drift":
            self.current_from = max(0, len(self.lessons) - DRIFT_LAG)
            self.canary = self.canary[-DRIFT_LAG // CANARY_ONE_IN :]
        known = known_at(self.simulator, index)
        rng = np.random.default_rng((self.seed, 5, index))
        scorer = Scorer.initial(None, known.embeddings, rng=rng, texts=known.texts)
        current = len(self.lessons) - self.current_from
        lessons = mix_lessons(self.lessons, current if reason in {"first", "full"} else RECENT)
        labelled = [lived.labelled for lived in lessons if lived.labelled is not None]
        rng = np.random.default_rng((self.seed, 6, index))
        report = scorer.fit(labelled, rng=rng)
        before = None if self.served is None else self._measure(self.served)
        gates = check_gates(
            before,
            self._measure(scorer),
            is_finite=bool(np.isfinite(report.loss)),
            promoted_models=self.promoted,
            rng=rng,
        )
        if not report.samples_used or not all(gate.is_passed for gate in gates):
            return False
        self.served, self.promoted = scorer, self.promoted + 1
        return True

    def _measure(self, scorer: Scorer) -> Canary | None:
        sessions = [lived for lived in self.canary if any(lived.relevance.values())]
        if not sessions:
            return None
        scores = [scorer.score(one.session.context, one.session.candidates) for one in sessions]
        orders = [order_of(row) for row in scores]
        return Canary(
            [ndcg(order, one.relevance) for order, one in zip(orders, sessions, strict=True)],
            float(np.mean([row.var() for row in scores])),
            [order[:5] for order in orders],
        )


def mix_lessons(lessons: Sequence[Lived], recent: int = RECENT) -> list[Lived]:
    """Return the 20 best older sessions, then the newest sessions."""
    start = max(0, len(lessons) - recent)
    best = sorted(
        lessons[:start], key=lambda one: -sum(one.relevance.get(i, 0.0) for i in one.injected)
    )
    return [*best[:REPLAY], *lessons[start:]]


def govern(
    plan: WorldPlan,
    seed: int,
    *,
    sessions: int,
    fixed: FixedRanker | None = None,
    advance: Callable[[int], object] = lambda _: None,
) -> list[GovernedSession]:
    """Run this many sessions.

    Parameters
    ----------
    fixed : a ranker without learning that counts as trained from the first training on; None
        for the model.
    """
    simulator = Simulator(plan, seed, sessions=sessions)
    training = _Training(simulator, seed, fixed)
    governor = Governor.initial()
    rng = np.random.default_rng((seed, 7))
    steps: list[GovernedSession] = []
    for index in range(sessions):
        session = simulator.session(index)
        lived = live(
            session,
            plan,
            training.scores(session),
            alpha=governor.alpha,
            rng=rng,
            draft_share=governor.draft_share,
        )
        before, governor = governor, governor.update(_compare(lived))
        training.add(lived, rng)
        reason = training.due(is_reset=governor.is_reset)
        trained = ""
        if reason:
            is_promoted = training.train(reason, index)
            governor = governor.after_training() if is_promoted else governor
            trained = f"{reason}: {'promoted' if is_promoted else 'rejected'}"
        if session.relevance.max() > 0:
            steps.append(_step(lived, before, governor, trained))
        advance(1)
    return steps


def _compare(lived: Lived) -> SessionOutcome:
    """Compare as the product does; a model has not been trained on the session that it serves."""
    is_trained = lived.predictor_order is not None
    found = compare(
        lived.baseline_order,
        lived.predictor_order,
        lived.relevance,
        confidence=lived.confidence,
        is_trained=is_trained,
    )
    return SessionOutcome(
        found.margin,
        found.void_reason,
        is_scored=lived.confidence >= MIN_CONFIDENCE,
        is_trained=is_trained,
        is_out_of_sample=is_trained,
        is_drafted=lived.is_drafted,
    )


def _step(lived: Lived, before: Governor, after: Governor, training: str) -> GovernedSession:
    baseline = lived.baseline_order
    rest = [i for i in baseline if i not in set(lived.injected)]
    return GovernedSession(
        before.alpha,
        before.phase.value,
        _compare(lived).margin,
        lived.is_drafted,
        truth_ndcg(lived.session, [*lived.injected, *rest]),
        truth_ndcg(lived.session, baseline),
        after,
        training,
        after.is_reset,
    )
