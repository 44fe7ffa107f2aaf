"""Serve a simulated session: its injection, a noisy judge's ratings, and the training labels."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engram.console.evaluation.simulation.plans import WorldPlan
from engram.console.evaluation.simulation.sessions import SimulatedSession
from memories.core.drafting import draft
from memories.core.rrf import rrf
from predictor.core.comparison import TOP, select_judged_pool
from predictor.core.judging import choose_for_model
from predictor.core.labels import MIN_CONFIDENCE, Evidence, label
from predictor.core.metrics import ndcg
from predictor.core.types import Candidates, LabelledSession

INJECTED = 10
MATCHES = 0.8  # mean number of prompts that match a memory of relevance 1
CHANCE_MATCHES = 0.05
CONFIDENCE = (0.5, 1.0)

Scores = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Lived:
    """A session from start to judgement; memories are indices in the session's pool.

    `labelled` is None when it may not be used for training; `is_drafted` is whether both rankings
    chose what was injected in turn.
    """

    session: SimulatedSession
    predictor_order: list[int] | None
    injected: list[int]
    relevance: dict[int, float]  # by the judge
    confidence: float
    labelled: LabelledSession | None
    is_drafted: bool = False

    @property
    def baseline_order(self) -> list[int]:
        """Return the baseline's ranking of the pool, which is the pool's order."""
        return list(range(len(self.session.ids)))


def order_of(scores: Scores) -> list[int]:
    """Return the indices by falling score; ties keep the baseline's order."""
    return [int(i) for i in np.argsort(-np.asarray(scores), kind="stable")]


def live(
    session: SimulatedSession,
    plan: WorldPlan,
    scores: Scores | None,
    *,
    alpha: float,
    rng: np.random.Generator,
    draft_share: float = 0.0,
) -> Lived:
    """Serve a session by the predictor's scores (None: untrained); `alpha` weighs the baseline.

    With the probability `draft_share` a list with scores is drafted from both rankings.
    """
    baseline = list(range(len(session.ids)))
    predictor = None if scores is None else order_of(scores)
    is_drafted = predictor is not None and draft_share > 0 and rng.random() < draft_share
    injected = baseline[:INJECTED]
    if predictor is not None:
        served = rrf(baseline, predictor, alpha=alpha)
        injected = _draft(baseline, predictor, rng) if is_drafted else list(served)[:INJECTED]
    hits = rng.poisson(MATCHES * session.relevance + CHANCE_MATCHES)
    chances = dict.fromkeys(baseline, 1.0)
    if not plan.is_judged_whole:
        certain = select_judged_pool(baseline[:TOP], (predictor or [])[:TOP], injected)
        others = [i for i in baseline if i not in certain and not hits[i]]
        chances = choose_for_model(certain, others, random.Random(int(rng.integers(2**32))))
    confidence = float(rng.uniform(*CONFIDENCE))
    relevance = _judge(session, list(chances), plan.judge_noise * (1.6 - confidence), rng)
    labelled = None
    if confidence >= MIN_CONFIDENCE:
        labelled = _label(session, injected, hits, relevance, chances)
        labelled = replace(labelled, confidence=confidence)
    return Lived(session, predictor, injected, relevance, confidence, labelled, is_drafted)


def _draft(
    baseline: Sequence[int], predictor: Sequence[int], rng: np.random.Generator
) -> list[int]:
    """Return what both rankings draft in turn, as the product does; no budget of characters."""
    picks = draft(
        {"baseline": baseline, "predictor": predictor},
        places=INJECTED,
        chars=dict.fromkeys(baseline, 0),
        budget_chars=0,
        rng=random.Random(int(rng.integers(2**32))),
    )
    return [pick.id for pick in picks]


def truth_ndcg(session: SimulatedSession, order: Sequence[int]) -> float:
    """Return nDCG@10 of a ranking against the truth.

    Raises
    ------
    ValueError
        When no memory is relevant.
    """
    return ndcg(order, dict(enumerate(session.relevance.tolist())))


def _judge(
    session: SimulatedSession, seen: Sequence[int], noise: float, rng: np.random.Generator
) -> dict[int, float]:
    """Return a judge's ratings: the truth with noise, in steps of 0.05."""
    ratings = session.relevance[list(seen)] + noise * rng.normal(size=len(seen))
    return dict(zip(seen, (np.round(ratings.clip(0, 1) * 20) / 20).tolist(), strict=True))


def _label(
    session: SimulatedSession,
    injected: Sequence[int],
    hits: NDArray[np.int64],
    relevance: dict[int, float],
    chances: dict[int, float],
) -> LabelledSession:
    n = len(session.ids)
    is_injected = np.zeros(n, dtype=bool)
    is_injected[list(injected)] = True
    score = float(session.relevance[list(injected)].mean() / 0.5)
    labels = {
        i: label(
            Evidence(
                relevance.get(i),
                bool(is_injected[i]),
                int(hits[i]),
            ),
            session_score=min(1.0, score),
        )
        for i in range(n)
    }
    kept = np.array([i for i, one in labels.items() if one.final is not None])
    final = np.array([labels[int(i)].final for i in kept], dtype=np.float64)
    weights = np.array([1 / chances.get(int(i), 1.0) for i in kept])
    offered = _subset(session, kept, is_injected)
    return LabelledSession(session.context, offered, final, 1.0, weights)


def _subset(
    session: SimulatedSession, kept: NDArray[np.int64], is_injected: NDArray[np.bool_]
) -> Candidates:
    whole = session.candidates
    return replace(
        whole,
        embeddings=whole.embeddings[kept],
        is_embedded=whole.is_embedded[kept],
        token_buckets=[whole.token_buckets[i] for i in kept],
        signals=whole.signals[kept],
        log_effectiveness=whole.log_effectiveness[kept],
        is_injected=is_injected[kept],
        baseline=None if whole.baseline is None else whole.baseline[kept],
    )
