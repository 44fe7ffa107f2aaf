"""Scoreboard: how each ranker orders the candidates of judged sessions, by nDCG@10.

Every figure is over the newest well judged sessions in which the ranker had an order. It describes
and decides nothing: what a session was given shapes its transcript, by which it is judged, so the
order that was served is favoured. The linear ranking is the closed-form part of the model; sessions
of earlier releases do not have its scores. Sessions judged by their agent alone are left out,
because only what was shown to it is judged there. Unjudged is unknown, never 0: an order of whose
first ten too few were judged has no figure of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import nsmallest
from itertools import groupby
from typing import Any, Final
from uuid import UUID

import numpy as np
from django.db.models import QuerySet

from memories.models import SessionCandidate
from predictor.core.comparison import NOT_TAKING_PART, TOP
from predictor.core.metrics import Interval, bootstrap, ndcg
from predictor.models import Comparison, JudgeKind

# What is read of a candidate.
READ: Final = (
    "session_id", "memory_id", "effectiveness", "cosine", "baseline_rank", "linear_score",
    "predictor_rank", "rank", "is_always",
)  # fmt: skip
SESSIONS = 100  # the newest; about 9,000 candidates
ENOUGH_JUDGED = 0.9
Row = Mapping[str, Any]
# The sort key of each ranker's order, best first; None where it has no opinion on a candidate.
RANKERS: Final[Mapping[str, Callable[[Row], float | None]]] = {
    "source": lambda row: _descending(row["effectiveness"]),
    "cosine": lambda row: _descending(row["cosine"]),
    "baseline": lambda row: row["baseline_rank"],
    "linear": lambda row: _descending(row["linear_score"]),
    "model": lambda row: row["predictor_rank"],
    "served": lambda row: row["rank"],
}
BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class Standing:
    """One ranker: mean nDCG@10 of the judged memories, and its mean difference to the baseline.

    `ndcg.n` is the number of sessions in which it has an order, `gain.n` of those compared.
    `gain` is paired over the sessions that both ordered; None for the baseline itself, and without
    such sessions. `judged_share` is the share of its first ten that the judge has rated.
    """

    ranker: str
    ndcg: Interval
    gain: Interval | None
    judged_share: float

    @property
    def is_known(self) -> bool:
        """Return whether enough of its first ten were judged to speak of its quality."""
        return self.judged_share >= ENOUGH_JUDGED


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """The rankers that have an order in some session; `since` is when the oldest was compared."""

    sessions: int
    since: datetime | None
    standings: tuple[Standing, ...] = ()


@dataclass(slots=True)
class _Figures:
    by_session: dict[UUID, float] = field(default_factory=dict)
    judged: list[float] = field(default_factory=list)


def scoreboard(*, rng: np.random.Generator, sessions: int = SESSIONS) -> Scoreboard:
    """Return the scoreboard by two queries; called inside the workspace.

    As in `predictor.services.judging.settle`, pins and constraints do not count: every session is
    given them, whatever the order.
    """
    compared = list(well_judged()[:sessions])
    relevance = {
        row.session_id: {UUID(i): value for i, value in row.relevance.items()}
        for row in compared
        if any(value > 0 for value in row.relevance.values())
    }
    figures = {name: _Figures() for name in RANKERS}
    rows_of = ranked_candidates(list(relevance)).order_by("session_id", "memory_id").values(*READ)
    for session, rows in groupby(rows_of, lambda row: row["session_id"]):
        found = list(rows)
        always = {row["memory_id"] for row in found if row["is_always"]}
        judged = {i: worth for i, worth in relevance[session].items() if i not in always}
        if any(worth > 0 for worth in judged.values()):
            ordered = [row for row in found if not row["is_always"]]
            _measure(session, ordered, judged, figures)
    standings = (_stand(name, figures, rng) for name in RANKERS if figures[name].by_session)
    return Scoreboard(
        len(figures[BASELINE].by_session),
        compared[-1].created_at if compared else None,
        tuple(standings),
    )


def well_judged() -> QuerySet[Comparison]:
    """Return the comparisons whose judgement says something about an order, newest first."""
    found = Comparison.objects.filter(void_reason__in=("", *NOT_TAKING_PART))
    by_agent = found.exclude(session__judgement__kind=JudgeKind.AGENT)
    return by_agent.only("session_id", "relevance", "created_at").order_by("-created_at", "-id")


def ranked_candidates(sessions: Sequence[UUID]) -> QuerySet[SessionCandidate]:
    """Return the candidates of sessions; those that only a prompt matched have no rank."""
    return SessionCandidate.objects.filter(session__in=sessions, rank__isnull=False).order_by()


def _measure(
    session: UUID,
    rows: Sequence[Row],
    relevance: Mapping[UUID, float],
    figures: Mapping[str, _Figures],
) -> None:
    """Add a session to the figures of the rankers that have an order in it."""
    for name, key_of in RANKERS.items():
        keyed = [(key, row["memory_id"]) for row in rows if (key := key_of(row)) is not None]
        if not keyed:
            continue
        first = nsmallest(TOP, keyed)
        order = [memory for _, memory in sorted(pair for pair in keyed if pair[1] in relevance)]
        figures[name].by_session[session] = ndcg(order, relevance, TOP)
        figures[name].judged.append(sum(pair[1] in relevance for pair in first) / len(first))


def _stand(name: str, figures: Mapping[str, _Figures], rng: np.random.Generator) -> Standing:
    own, base = figures[name].by_session, figures[BASELINE].by_session
    differences = [value - base[session] for session, value in own.items() if session in base]
    is_compared = name != BASELINE and differences
    return Standing(
        ranker=name,
        ndcg=bootstrap(list(own.values()), rng=rng),
        gain=bootstrap(differences, rng=rng) if is_compared else None,
        judged_share=float(np.mean(figures[name].judged)),
    )


def _descending(value: float | None) -> float | None:
    return None if value is None else -value
