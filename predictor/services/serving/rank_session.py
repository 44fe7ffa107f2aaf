"""Rank a starting session's candidates; `settings.ENGRAM_SESSION_RANKER` names `rank_session`.

In the mode `off` nothing is scored or recorded. Otherwise every candidate's signals are recorded,
and scored when a model is served; the scores have influence (α < 1) only in the mode `on` and in
the governor's serving phases. On any failure the error is counted and the baseline's order is used.
A model that is not loaded in time is counted under its own code, which does not open the breaker,
and is loaded in the background.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from uuid import UUID

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from engram.kernel import telemetry
from engram.kernel.actors import SYSTEM
from engram.kernel.middleware import zone_of
from engram.kernel.tenancy import in_workspace
from memories.services.sessions.ranker_hook import STAGE, RankerAnswer, RankerRequest, find_flaw
from predictor.core.checkpoint import CheckpointError
from predictor.core.features import WidthError
from predictor.core.governance import SERVING
from predictor.core.learned_relevance import LearnedRelevance
from predictor.core.scorer import ScoreError
from predictor.models import PredictorState
from predictor.services.models.reset import cold_start
from predictor.services.serving import breaker, served
from predictor.services.serving.deadline import Deadline, TooSlowError
from predictor.services.serving.served import LoadingError, ServedModel
from predictor.services.serving.status_line import status_line
from predictor.services.session_features import candidates_of, context_of, signals_of
from predictor.services.state import lock_state, serving_state
from predictor.services.training.dataset import usable_judgements
from predictor.services.training.due import note_training_due

UNREADABLE = ("predictor_checkpoint_error", "checkpoint_error")

# By exception: the error code that is counted, and the reason stored on the session.
FAILURES: dict[type[Exception], tuple[str, str]] = {
    TooSlowError: ("predictor_timeout", "timeout"),
    WidthError: ("predictor_parse_error", "parse_error"),
    ScoreError: ("predictor_parse_error", "parse_error"),
    CheckpointError: UNREADABLE,
    LoadingError: (breaker.LOADING, "loading"),
}
CRASH = ("predictor_crash", "crash")

# Reasons without scores that are not failures.
NO_MODEL, DISABLED, OTHER_EMBEDDING, NOTHING_TO_RANK = (
    "no_model",
    "disabled",
    "other_embedding",
    "nothing_to_rank",
)

SignalRows = NDArray[np.float64]  # the signals (n, 12) of the candidates


@dataclass(frozen=True, slots=True)
class ScoredCandidates:
    """The model's scores of the candidates, and those by its linear part, or empty."""

    by_model: Mapping[UUID, float] = field(default_factory=dict)
    linear: Mapping[UUID, float] = field(default_factory=dict)


_deadline: Deadline[ScoredCandidates] = Deadline()


class NoScoresError(Exception):
    """Raised when there is nothing to score with; not a failure."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


def rank_session(request: RankerRequest) -> RankerAnswer:
    """Return scores, signals and the baseline's weight for a starting session's candidates."""
    if request.workspace.config.predictor_mode == "off":
        served.cache.evict(request.workspace.pk, served=None)
        return RankerAnswer()
    try:
        with in_workspace(request.workspace):  # a savepoint: the session's transaction goes on
            found = _rank(request)
            if flaw := find_flaw(found, request):
                raise ScoreError(flaw)
            return found
    except Exception as error:  # noqa: BLE001  these failures count for the breaker too
        return RankerAnswer(no_opinion_reason=_count_failure(request, error))


def _rank(request: RankerRequest) -> RankerAnswer:
    state = serving_state()
    served.cache.evict(request.workspace.pk, served=state.served)
    is_off = breaker.is_open(state, request.now)
    failures = breaker.failures(state, request.now) if is_off else 0
    scores = ScoredCandidates()
    signals: Mapping[UUID, list[float]] = {}
    reason = DISABLED if is_off else ""
    try:
        rows = signals_of(request)
        ids = (fact.id for fact in request.candidates)
        signals = dict(zip(ids, rows.tolist(), strict=True))
        if not is_off:
            scores = _scores(request, state, rows)
    except NoScoresError as error:
        reason = error.reason
    except Exception as error:  # noqa: BLE001  a session starts whatever a ranker does
        reason = _count_failure(request, error)
        if reason == UNREADABLE[1]:
            state = PredictorState()  # `_record_failure` resets it after the commit
    return replace(_answer(request, state, scores, reason, failures), signals=signals)


def _scores(request: RankerRequest, state: PredictorState, rows: SignalRows) -> ScoredCandidates:
    if state.served is None:
        raise NoScoresError(NO_MODEL)
    ends = perf_counter() + request.workspace.config.score_timeout_ms / 1000
    with telemetry.timed(STAGE):
        model = served.load(state.served, ends - perf_counter())
        if model.scorer is None or model.embedding_model != request.model:
            raise NoScoresError(OTHER_EMBEDDING)
        if not request.candidates:
            raise NoScoresError(NOTHING_TO_RANK)
        return _deadline.run(lambda: _score(request, model, rows), ends - perf_counter())


def _score(request: RankerRequest, model: ServedModel, rows: SignalRows) -> ScoredCandidates:
    """Score the candidates; without database access, because it runs in another thread."""
    facts = request.candidates
    context = context_of(
        embedding=request.context,
        project=request.project,
        at=request.now,
        zone=zone_of(request.workspace),
        gap_hours=request.gap_hours,
    )
    candidates = candidates_of(
        vectors=[fact.vector for fact in facts],
        contents=[fact.content for fact in facts],
        signal_rows=rows,
        effectiveness=[fact.effectiveness for fact in facts],
        baseline_scores=[fact.baseline_score for fact in facts],
        width=model.width,
    )
    assert model.scorer is not None  # noqa: S101  checked by `_scores`
    ready = model.scorer.prepare(candidates)
    linear = model.scorer.linear_scores(context, ready)
    return ScoredCandidates(
        _by_id(request, model.scorer.score(context, ready)),
        {} if linear is None else _by_id(request, linear),
    )


def _by_id(request: RankerRequest, found: NDArray[np.float32]) -> dict[UUID, float]:
    """Return the scores of the candidates by their ids."""
    scores, facts = np.asarray(found, dtype=np.float64), request.candidates
    if scores.shape != (len(facts),):
        raise WidthError(f"scores of shape {scores.shape} for {len(facts)} candidates")
    if not np.isfinite(scores).all():
        raise ScoreError("a score is not finite")
    return {fact.id: score for fact, score in zip(facts, scores.tolist(), strict=True)}


def _relevance(state: PredictorState, scores: Mapping[UUID, float]) -> dict[UUID, float]:
    """Return how likely each scored candidate is of use; empty before enough sessions told."""
    learned = LearnedRelevance.from_json(state.relevance)
    if learned is None or not scores:
        return {}
    return dict(zip(scores, learned.of(list(scores.values())), strict=True))


def _count_failure(request: RankerRequest, error: Exception) -> str:
    """Record a failure after the session's commit; return the reason stored on the session.

    After the commit, because the session locks memories, which must be locked before the state.
    """
    code, reason = next((row for kind, row in FAILURES.items() if isinstance(error, kind)), CRASH)
    name = type(error).__name__
    detail = name if code == CRASH[0] else f"{name}: {error}"  # others' messages may quote texts
    transaction.on_commit(lambda: _record_failure(request, code, detail), robust=True)
    if isinstance(error, LoadingError):
        number = error.number
        transaction.on_commit(
            lambda: served.load_in_background(request.workspace.pk, number), robust=True
        )
    return reason


def _record_failure(request: RankerRequest, code: str, detail: str) -> None:
    """Record a failure; reset the predictor when the served model cannot be read."""
    workspace, now = request.workspace, request.now
    with in_workspace(workspace):
        state = lock_state(now)
        breaker.note_failure(
            state,
            code,
            detail,
            session_key=request.session_key,
            threshold=workspace.config.disable_threshold,
            now=now,
        )
        if code == UNREADABLE[0] and state.served is not None:
            try:
                served.load(state.served, served.BACKGROUND_SECONDS)
            except CheckpointError:
                cold_start(state, workspace, reason=UNREADABLE[1], actor=SYSTEM, now=now)
                # The training data is still there, so a training is due at once.
                if usable_judgements().count() >= workspace.config.min_training_sessions:
                    note_training_due(state, "first", now)


def _answer(
    request: RankerRequest,
    state: PredictorState,
    found: ScoredCandidates,
    reason: str,
    failures: int,
) -> RankerAnswer:
    config, scores = request.workspace.config, found.by_model
    may_serve = config.predictor_mode == "on" and state.phase in SERVING and not failures
    alpha = state.alpha if may_serve and scores else 1.0
    has_model = state.served is not None and reason != OTHER_EMBEDDING
    return RankerAnswer(
        scores=scores,
        relevance=_relevance(state, scores),
        linear=found.linear,
        alpha=alpha,
        phase=state.phase,
        model_version=state.served if scores else None,
        no_opinion_reason=reason,
        status_line=status_line(
            state,
            alpha=alpha,
            model=state.served if has_model else None,
            min_sessions=config.min_training_sessions,
            is_serving=may_serve,
            failures=failures,
        ),
        rrf_k=config.rrf_k,
        exploration_rate=config.exploration_rate if may_serve and scores else 0.0,
        draft_share=state.draft_share if scores else 0.0,
    )
