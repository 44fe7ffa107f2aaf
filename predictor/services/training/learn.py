"""Train a model on loaded data and check the gates; writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, thread_time

import numpy as np

from memories.core.shares import percent
from predictor.core.gates import Canary, Gate, check_gates
from predictor.core.scorer import ScoreError, Scorer, TrainingReport
from predictor.services.training import canary
from predictor.services.training.material import Material

BUDGET_SECONDS = 30.0  # of one processor
BUDGET_WALL_SECONDS = 120.0  # where others compute, too


class OutOfTimeError(Exception):
    """A training took longer than it may."""


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """Result of a training: the model, its report, and its gates.

    `scorer` is None when there was nothing to learn; `report` is None too when the result was not
    finite.
    """

    scorer: Scorer | None
    report: TrainingReport | None
    gates: list[Gate]
    before: Canary | None
    after: Canary | None
    cpu_seconds: float
    seconds: float

    @property
    def may_serve(self) -> bool:
        """Return whether every gate was passed."""
        return self.scorer is not None and all(gate.is_passed for gate in self.gates)


def train_model(
    material: Material,
    *,
    seed: int,
    progress: Callable[[float], object] = lambda _: None,
    least_sessions: int = 1,
) -> TrainingResult:
    """Learn beside the served model: the same material and seed give the same bytes.

    From fewer than `least_sessions`, the canary counted, nothing is learned.

    Raises
    ------
    OutOfTimeError
        When it takes longer than the budget. `progress` is called with the share in [0, 1] and may
        raise, too.
    """
    began, began_cpu = perf_counter(), thread_time()

    def advance(share: float) -> None:
        if (
            thread_time() - began_cpu > BUDGET_SECONDS
            or perf_counter() - began > BUDGET_WALL_SECONDS
        ):
            raise OutOfTimeError(f"stopped at {percent(share)} after {BUDGET_SECONDS:.0f} s")
        progress(share)

    rng = np.random.default_rng(seed)
    before: Canary | None = None
    after: Canary | None = None
    on_learned: Canary | None = None
    report: TrainingReport | None = None
    scorer: Scorer | None = None
    gates: list[Gate] = []
    is_enough = len(material.sessions) + len(material.canary) >= least_sessions
    if material.sessions and material.width and is_enough:
        scorer = _start(material, rng)
        try:
            sessions = [session.learned for session in material.sessions]
            report = scorer.fit(sessions, rng=rng, progress=advance)
            if material.served is not None:
                before = canary.measure(material.served, material.canary)
            after = canary.measure(scorer, material.canary)
            if after is None:
                on_learned = canary.measure(scorer, material.sessions)
            is_finite = bool(np.isfinite(report.loss))
        except ScoreError:
            is_finite = False
        if report is not None and report.samples_used == 0:
            scorer = None
        else:
            gates = check_gates(
                before,
                after,
                is_finite=is_finite,
                promoted_models=material.promoted_models,
                rng=rng,
                learned_variance=on_learned.score_variance if on_learned else None,
            )
    return TrainingResult(
        scorer, report, gates, before, after, thread_time() - began_cpu, perf_counter() - began
    )


def _start(material: Material, rng: np.random.Generator) -> Scorer:
    if material.base is not None:
        return material.base.copy()
    known = material.known
    if known is None:
        raise ValueError("there is neither a model to start from nor what is known")
    return Scorer.initial(None, known.embeddings, rng=rng, texts=known.words)
