"""Fit what the learned scores say of relevance, on the sessions that were judged after them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np

from memories.models import SessionCandidate
from predictor.core.learned_relevance import MOST_SESSIONS, ScoredSession, centre, fit
from predictor.models import Comparison, PredictorState


def note_relevance(state: PredictorState) -> None:
    """Fit the regression on the newest judged sessions; the caller saves the state, locked."""
    learned = fit(_scored_sessions(state))
    state.relevance = {} if learned is None else learned.to_json()


def _scored_sessions(state: PredictorState) -> list[ScoredSession]:
    """Return the newest sessions that a model scored since the last reset, and that say something.

    What is judged of pins and constraints is left out, as everywhere where rankings are compared.
    """
    compared = Comparison.objects.filter(
        is_out_of_sample=True, void_reason="", model_version__gt=state.last_dropped
    ).order_by("-created_at", "-pk")
    judged = dict(compared.values_list("session_id", "relevance")[:MOST_SESSIONS])
    rows = SessionCandidate.objects.filter(session__in=judged, predictor_score__isnull=False)
    scores: dict[UUID, list[tuple[str, float]]] = defaultdict(list)
    for session_id, memory_id, score, is_always in rows.order_by(
        "session_id", "memory_id"
    ).values_list("session_id", "memory_id", "predictor_score", "is_always"):
        told = "" if is_always else str(memory_id)
        scores[session_id].append((told, score or 0.0))
    return [_scored(scores[session_id], told) for session_id, told in judged.items()]


def _scored(scores: Sequence[tuple[str, float]], told: Mapping[str, float]) -> ScoredSession:
    centred = centre([score for _, score in scores])
    places = [place for place, (memory_id, _) in enumerate(scores) if memory_id in told]
    relevance = np.array([told[scores[place][0]] for place in places], dtype=np.float64)
    return ScoredSession(centred[places], relevance)
