"""The seam by which a learned ranker takes part in session start: `settings.ENGRAM_SESSION_RANKER`.

The setting names a callable that takes a `RankerRequest` and returns a `RankerAnswer`; empty means
that there is none. Whatever goes wrong with it, the baseline's order serves: an exception, scores
of other candidates and numbers out of range are counted as failures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from math import isfinite
from typing import Protocol, cast
from uuid import UUID

import numpy as np
from django.conf import settings
from django.utils.module_loading import import_string
from numpy.typing import NDArray

from engram.kernel import telemetry
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.fusion import RRF_K

STAGE = "predictor_score"


@dataclass(frozen=True, slots=True)
class CandidateFacts:
    """What a ranker may know of one candidate at the start of a session."""

    id: UUID
    content: str
    vector: NDArray[np.float32] | None  # unit vector by `Asked.model`; None when there is none
    age_days: float
    importance: float
    access_count: int  # recalled on purpose: being injected does not count
    is_superseded: bool
    baseline_score: float


@dataclass(frozen=True, slots=True)
class RankerRequest:
    """A session that starts, and its candidates in the baseline's order."""

    workspace: Workspace
    session_key: str
    context: NDArray[np.float32] | None
    model: str  # the embedding model of all vectors here
    project: str
    now: datetime
    gap_hours: float | None
    candidates: Sequence[CandidateFacts]


@dataclass(frozen=True, slots=True)
class RankerAnswer:
    """What a ranker says: scores for all candidates, or none and why.

    `alpha` is the baseline's weight in [0, 1]; `signals` is the ranker's account of each
    candidate, to be kept with the records.
    """

    scores: Mapping[UUID, float] = field(default_factory=dict)
    signals: Mapping[UUID, Sequence[float]] = field(default_factory=dict)
    alpha: float = 1.0
    phase: str = ""
    model_version: int | None = None
    no_opinion_reason: str = ""
    status_line: str = ""
    rrf_k: int = RRF_K
    exploration_rate: float = 0.0


class SessionRanker(Protocol):
    """The callable that the setting names; called inside the workspace."""

    def __call__(self, asked: RankerRequest, /) -> RankerAnswer:
        """Return what the ranker thinks of the candidates."""


@lru_cache(maxsize=4)
def _ranker(name: str) -> SessionRanker:
    return cast("SessionRanker", import_string(name))


def ask_ranker(request: RankerRequest) -> RankerAnswer:
    """Return the learned ranker's opinion; whatever it raises is counted and means none."""
    name = settings.ENGRAM_SESSION_RANKER
    if not name:
        return RankerAnswer()
    try:
        with in_workspace(request.workspace):  # a savepoint: what fails in the database ends here
            answer = _ranker(name)(request)
    except Exception as error:  # noqa: BLE001  a session starts whatever a ranker does
        return _no_scores(request, "predictor_crash", type(error).__name__, "crash")
    if flaw := find_flaw(answer, request):
        return _no_scores(request, "predictor_parse_error", flaw, "invalid")
    return answer


def _no_scores(request: RankerRequest, code: str, detail: str, reason: str) -> RankerAnswer:
    telemetry.record_error(
        STAGE, code, detail=detail, session_key=request.session_key, now=request.now
    )
    return RankerAnswer(no_opinion_reason=reason)


def find_flaw(answer: RankerAnswer, request: RankerRequest) -> str:
    """Return what makes an opinion none, empty when nothing does."""
    scores, signals, ids = answer.scores, answer.signals, [one.id for one in request.candidates]
    if scores and (len(scores) != len(ids) or not all(i in scores for i in ids)):
        return "scores of other candidates than were asked about"
    if not all(map(isfinite, scores.values())):
        return "a score that is no number"
    if not (0 <= answer.alpha <= 1 and 0 <= answer.exploration_rate <= 1 and answer.rrf_k > 0):
        return "a weight or a rate out of range"
    if signals and len({len(signals.get(i, ())) for i in ids}) > 1:
        return "signals of some candidates only"
    return ""
