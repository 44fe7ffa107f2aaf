"""Call the learned ranker at session start: the hook `settings.ENGRAM_SESSION_RANKER`.

The setting names a callable that takes a `RankerRequest` and returns a `RankerAnswer`; empty means
that there is none. When it fails (an exception, scores of other candidates, numbers out of range),
the failure is counted and the baseline's order is used.
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
from memories.core.rrf import RRF_K

STAGE = "predictor_score"


@dataclass(frozen=True, slots=True)
class CandidateFacts:
    """The features of one candidate that a ranker may use."""

    id: UUID
    content: str
    vector: NDArray[np.float32] | None  # unit vector of `RankerRequest.model`, if there is one
    age_days: float
    importance: float
    access_count: int  # recalls, without injections
    is_superseded: bool  # by a later memory, people are asked: what is replaced is not offered
    baseline_score: float  # `total` of `memories.core.baseline`
    effectiveness: float  # importance · 0.95^days


@dataclass(frozen=True, slots=True)
class RankerRequest:
    """A starting session and its candidates in the baseline's order."""

    workspace: Workspace
    session_key: str
    context: NDArray[np.float32] | None
    model: str  # the embedding model of all vectors
    project: str
    now: datetime
    gap_hours: float | None
    candidates: Sequence[CandidateFacts]


@dataclass(frozen=True, slots=True)
class RankerAnswer:
    """The ranker's answer: scores for all candidates, or None and the reason.

    `alpha` is the baseline's weight in [0, 1]; `draft_share` the probability with which the list
    is drafted from both rankings; `signals` is stored with the record of each candidate.
    `relevance` is how likely each candidate is of use, in [0, 1], or empty where that is unknown.
    `linear` are the scores by the linear part of the ranker alone, or empty; stored, and shown
    beside, they rank nothing.
    """

    scores: Mapping[UUID, float] = field(default_factory=dict)
    signals: Mapping[UUID, Sequence[float]] = field(default_factory=dict)
    relevance: Mapping[UUID, float] = field(default_factory=dict)
    linear: Mapping[UUID, float] = field(default_factory=dict)
    alpha: float = 1.0
    phase: str = ""
    model_version: int | None = None
    no_opinion_reason: str = ""
    status_line: str = ""
    rrf_k: int = RRF_K
    exploration_rate: float = 0.0
    draft_share: float = 0.0


class SessionRanker(Protocol):
    """The callable named by ENGRAM_SESSION_RANKER; it is called within `in_workspace()`."""

    def __call__(self, request: RankerRequest, /) -> RankerAnswer:
        """Return the scores of the candidates."""


@lru_cache(maxsize=4)
def _ranker(name: str) -> SessionRanker:
    return cast("SessionRanker", import_string(name))


def ask_ranker(request: RankerRequest) -> RankerAnswer:
    """Return the learned ranker's answer; on an exception count it and return no scores."""
    name = settings.ENGRAM_SESSION_RANKER
    if not name:
        return RankerAnswer()
    try:
        with in_workspace(request.workspace):  # a savepoint limits database errors to the ranker
            answer = _ranker(name)(request)
    except Exception as error:  # noqa: BLE001  the session starts without the ranker
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
    """Return the reason why an answer is invalid, "" if it is valid."""
    scores, signals, ids = answer.scores, answer.signals, [one.id for one in request.candidates]
    for given in (scores, answer.linear):
        if given and (len(given) != len(ids) or not all(i in given for i in ids)):
            return "scores of other candidates than were asked about"
        if not all(map(isfinite, given.values())):
            return "a score that is no number"
    shares = (answer.alpha, answer.exploration_rate, answer.draft_share)
    if not (all(0 <= share <= 1 for share in shares) and answer.rrf_k > 0):
        return "a weight or a rate out of range"
    relevance = answer.relevance
    if relevance and not all(0 <= relevance.get(i, -1.0) <= 1 for i in ids):
        return "a relevance out of range, or of some candidates only"
    if signals and len({len(signals.get(i, ())) for i in ids}) > 1:
        return "signals of some candidates only"
    return ""
