"""Canary sessions: held out of training, to measure a new model before it serves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np

from predictor.core import gates
from predictor.core.comparison import TOP
from predictor.core.metrics import ndcg
from predictor.core.scorer import Scorer
from predictor.models import CanarySession
from predictor.services.training.dataset import JudgedSession

MAX_SESSIONS = 25
ONE_IN = 5
REFRESH = timedelta(days=7)


def choose(
    sessions: Sequence[JudgedSession],
    *,
    kept: Collection[UUID],
    seen: Collection[UUID],
    rng: np.random.Generator,
) -> set[UUID]:
    """Return the canary: a fifth of the sessions, at most 25.

    Parameters
    ----------
    sessions : what may be learned from, oldest first.
    kept : the canary so far; empty to draw all of it anew.
    seen : what the served model has learned from; such a session would flatter it, and is taken
        only where the others are too few and the canary is drawn anew.
    """
    measurable = [session.id for session in sessions if np.nanmax(session.relevance, initial=0) > 0]
    size = min(MAX_SESSIONS, len(measurable) // ONE_IN)
    chosen = [i for i in measurable if i in kept][-size:] if size else []
    unseen = [i for i in measurable if i not in kept and i not in seen]
    others = [] if kept else [i for i in measurable if i in seen]
    for pool in (unseen, others):
        room = min(size - len(chosen), len(pool))
        chosen += [pool[int(row)] for row in rng.choice(len(pool), size=room, replace=False)]
    return set(chosen)


def store(chosen: Collection[UUID], now: datetime) -> None:
    """Replace the canary by these sessions; called inside the workspace."""
    CanarySession.objects.exclude(session__in=chosen).delete()
    CanarySession.objects.bulk_create(
        [CanarySession(session_id=i, chosen_at=now) for i in sorted(chosen)],
        ignore_conflicts=True,
    )


def measure(scorer: Scorer, sessions: Sequence[JudgedSession]) -> gates.Canary | None:
    """Rank the canary sessions; None when there are none.

    Raises
    ------
    WidthError, ScoreError
        When the model cannot score them.
    """
    if not sessions:
        return None
    figures, variances, tops = [], [], []
    for session in sessions:
        scores = scorer.score(session.learned.context, session.learned.candidates)
        ids = session.memory_ids
        ranked = [ids[int(row)] for row in np.argsort(-scores, kind="stable")]
        judged = ~np.isnan(session.relevance)
        relevance = {ids[int(row)]: float(session.relevance[row]) for row in np.flatnonzero(judged)}
        figures.append(ndcg(ranked, relevance, TOP))
        variances.append(float(np.var(scores)))
        tops.append(ranked[: gates.TOP])
    return gates.Canary(figures, float(np.mean(variances)), tops)
