"""Scoreboard: how each ranker orders the candidates of judged sessions, by nDCG@10.

Every figure is over the newest well judged sessions in which the ranker had an order. It describes
and decides nothing: what a session was given shapes its transcript, by which it is judged, so the
order that was served is favoured. `drafted` has the same figures over drafted lists, for which
baseline and learned ranking chose in turn, by coin: between these two none is favoured there. The
linear ranking is the closed-form part of the model; sessions of earlier releases do not have its
scores. Sessions judged by their agent alone are left out, because only what was shown to it is
judged there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Final
from uuid import UUID

import numpy as np
from django.db.models import BooleanField, F, QuerySet, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from memories.models import SessionCandidate
from predictor.core.comparison import NOT_TAKING_PART
from predictor.models import Comparison, JudgeKind
from predictor.services.status.standings import BASELINE, Measured, Standing, measure, standings

# What is read of a candidate.
READ: Final = (
    "session_id", "memory_id", "effectiveness", "cosine", "baseline_rank", "linear_score",
    "predictor_rank", "rank", "is_always", "is_relevant",
)  # fmt: skip
SESSIONS = 100  # the newest; about 9,000 candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The rankers that have an order in some of the sessions.

    `sessions` counts those with an order of the baseline, `since` is when the oldest was compared.
    """

    sessions: int = 0
    since: datetime | None = None
    standings: tuple[Standing, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedFigures(Figures):
    """The figures of the sessions that one kind of judge judged."""

    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoreboard(Figures):
    """Figures of the newest sessions, of the newest drafted ones, and by judge if there are two."""

    drafted: Figures = Figures()
    by_judge: tuple[JudgedFigures, ...] = ()


@dataclass(frozen=True, slots=True)
class _Judged:
    """A session: when it was compared, by which kind of judge, and its figures by ranker."""

    at: datetime
    kind: str
    measured: Mapping[str, Measured]


def scoreboard(*, rng: np.random.Generator, sessions: int = SESSIONS) -> Scoreboard:
    """Return the scoreboard by two queries; called inside the workspace.

    As in `predictor.services.judging.settle`, pins and constraints do not count: every session is
    given them, whatever the order. Of drafted lists only what could be drafted counts.
    """
    compared = list(compared_rows(F("relevance"), sessions=sessions))
    ids = {session for session, *_ in compared}
    candidates = ranked_candidates(list(ids)).order_by("session_id", "memory_id").values(*READ)
    rows = {i: list(own) for i, own in groupby(candidates, lambda row: row["session_id"])}
    newest: list[_Judged] = []
    drafted: list[_Judged] = []
    for session, at, kind, is_drafted, relevance in sorted(compared, key=lambda row: row[0]):
        found = [row for row in rows.get(session, ()) if not row["is_always"]]
        if is_drafted:
            found = [row for row in found if row["is_relevant"]]
        measured = measure(found, {UUID(i): worth for i, worth in relevance.items()})
        (drafted if is_drafted else newest).append(_Judged(at, kind, measured))
    kinds = sorted({one.kind for one in newest if one.measured})
    return Scoreboard(
        **_figures(newest, rng),
        drafted=Figures(**_figures(drafted, rng)),
        by_judge=tuple(
            JudgedFigures(judge=kind, **_figures([one for one in newest if one.kind == kind], rng))
            for kind in (kinds if len(kinds) > 1 else ())
        ),
    )


def compared_rows(told: Combinable, *, sessions: int = SESSIONS) -> QuerySet[Any, Any]:
    """Return the newest well judged sessions, and of the drafted ones the newest, by one query.

    A row has the session's id, when it was compared, the kind of judge ("" where it is not known),
    whether it is among the drafted, and what is `told` of the comparison. They come in any order.
    """
    judge = Coalesce("session__judgement__kind", Value(""))
    newest, drafted = (
        found.order_by("-created_at", "-id").values_list(
            "session_id", "created_at", judge, Value(is_drafted, output_field=BooleanField()), told
        )[:sessions]
        for found, is_drafted in (
            (well_judged(), False),
            (well_judged().filter(is_drafted=True, drafted_margin__isnull=False), True),
        )
    )
    return newest.union(drafted, all=True)


def well_judged() -> QuerySet[Comparison]:
    """Return the comparisons whose judgement says something about an order."""
    found = Comparison.objects.filter(void_reason__in=("", *NOT_TAKING_PART))
    return found.exclude(session__judgement__kind=JudgeKind.AGENT)


def ranked_candidates(sessions: Sequence[UUID]) -> QuerySet[SessionCandidate]:
    """Return the candidates of sessions; those that only a prompt matched have no rank."""
    return SessionCandidate.objects.filter(session__in=sessions, rank__isnull=False).order_by()


def _figures(found: Sequence[_Judged], rng: np.random.Generator) -> dict[str, Any]:
    """Return the fields of `Figures` over some sessions."""
    return {
        "sessions": sum(BASELINE in one.measured for one in found),
        "since": min((one.at for one in found), default=None),
        "standings": standings([one.measured for one in found], rng),
    }
