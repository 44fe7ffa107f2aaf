"""Read the predictor's status: influence and its reason, model, next training, breaker."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.models import Workspace
from predictor.core import governance
from predictor.core.betting import ENOUGH, LEAST
from predictor.core.governance import SERVING, Governor, Phase
from predictor.models import ModelVersion, PredictorState, Training
from predictor.services.models.store import TRAINED, describe_unreadable_base, is_readable
from predictor.services.serving import breaker
from predictor.services.serving.status_line import status_line
from predictor.services.state import governor_of, state_of
from predictor.services.status import track_record
from predictor.services.status.drafted_lists import (
    DraftedLists,
    describe_missing,
    missing_sessions,
    read_drafted_lists,
)
from predictor.services.training.due import ERASED, WHY, due_reason, training_lease

MISSING_MAX = 1_000  # sessions searched ahead; no training interval is longer

MISFIT = (
    "What was learned cannot be used: it was made for another embedding model, or by another"
    " release."
)

# What the next training is, by its reason, where it is more than the next one.
AWAITED = {"first": "the first training", "full": "the next training, which reads all sessions"}

THRESHOLDS = {
    "min_scored_sessions": governance.MIN_SCORED,
    "min_out_of_sample": governance.MIN_OUT_OF_SAMPLE,
    "enough_wealth": ENOUGH,
    "least_lead": LEAST,
    "least_alpha": governance.LEAST_ALPHA,
    "drift_limit": governance.DRIFT_LIMIT,
}


@dataclass(frozen=True, slots=True)
class NextTraining:
    """When the next training is due.

    `missing_sessions` is the number of scored sessions until then; None when unknown.
    """

    is_running: bool
    due_since: datetime | None
    reason: str
    missing_sessions: int | None
    says: str


@dataclass(frozen=True, slots=True)
class Breaker:
    """State of the circuit breaker, and the failures that count now."""

    is_open: bool
    until: datetime | None
    failures: int
    threshold: int


@dataclass(frozen=True, slots=True)
class PredictorStatus:
    """The predictor's status; `alpha_served` is the baseline's weight in the next session.

    `model` is the served version, None before the first; `is_fitting` is False when it was made for
    another embedding model, or by a release that this one cannot read. `comparisons` counts those
    in the success rate, `labels` those that can be trained on. `trained_at` is of the served model,
    None when it came from a file; `last_training` is the last finished one.
    """

    config: WorkspaceSettings
    state: PredictorState
    governor: Governor
    alpha_served: float
    reason: str
    model: ModelVersion | None
    is_fitting: bool
    comparisons: int
    labels: int
    judged_by: tuple[track_record.JudgedBy, ...]
    trained_at: datetime | None
    fully_trained_at: datetime | None
    last_training: dict[str, Any] | None
    next_training: NextTraining
    breaker: Breaker
    drafted_lists: DraftedLists
    status_line: str
    thresholds: Mapping[str, float] = field(default_factory=lambda: THRESHOLDS)


def read_status(workspace: Workspace, *, now: datetime) -> PredictorStatus:
    """Return the status, by a constant number of queries; called inside the workspace."""
    config, state = workspace.config, state_of()
    governor = governor_of(state)
    is_open = breaker.is_open(state, now)
    failures = breaker.failures(state, now)
    model = ModelVersion.objects.defer("checkpoint").filter(number=state.served or 0).first()
    is_fitting = (
        model is not None
        and model.embedding_model == workspace.embedding_model
        and is_readable(model)
    )
    may_serve = config.predictor_mode == "on" and state.phase in SERVING and not is_open
    alpha_served = governor.alpha if may_serve and is_fitting else 1.0
    line = status_line(
        state,
        alpha=alpha_served,
        model=state.served if is_fitting else None,
        min_sessions=config.min_training_sessions,
        is_serving=may_serve,
        failures=failures if is_open else 0,
    )
    awaited = next_training(state, config, now)
    if unread := describe_unreadable_base(workspace.embedding_model):
        awaited = replace(awaited, says=f"{awaited.says} {unread}")
    return PredictorStatus(
        config=config,
        state=state,
        governor=governor,
        alpha_served=alpha_served,
        reason=_reason(config, state, governor, model, is_fitting=is_fitting, is_open=is_open),
        model=model,
        is_fitting=is_fitting,
        comparisons=track_record.comparison_count(),
        labels=track_record.label_count(),
        judged_by=track_record.judged_by(),
        trained_at=model.created_at if model is not None and model.origin == TRAINED else None,
        fully_trained_at=track_record.fully_trained_at(state),
        last_training=track_record.last_training(),
        next_training=awaited,
        breaker=Breaker(
            is_open, state.disabled_until if is_open else None, failures, config.disable_threshold
        ),
        drafted_lists=read_drafted_lists(governor, mode=config.predictor_mode),
        status_line="" if config.predictor_mode == "off" else line,
    )


def _reason(
    config: WorkspaceSettings,
    state: PredictorState,
    governor: Governor,
    model: ModelVersion | None,
    *,
    is_fitting: bool,
    is_open: bool,
) -> str:
    """Return sentences on why the baseline has its weight."""
    distance = describe_missing(missing_sessions(governor)).strip()
    sentences = [governor.reason, *([distance] if distance else [])]
    if state.last_dropped and governor.phase is Phase.COLLECTING:
        sentences = ["Learning began anew, and nothing is learned yet: the baseline ranks alone."]
    if model is not None and not is_fitting:
        sentences.append(MISFIT)
    if is_open:
        sentences.append(
            "The learned ranking failed or was too slow too often, so it is switched off for now."
        )
    if config.predictor_mode == "off":
        sentences = ["Learning is switched off in this workspace: sessions are not judged."]
    elif config.predictor_mode == "collect" and governor.phase in SERVING:
        sentences.append(
            "While it learns only, that say is not used, except where both choose in turn to be"
            " compared; switched on, it is."
        )
    return " ".join(sentences)


def next_training(state: PredictorState, config: WorkspaceSettings, now: datetime) -> NextTraining:
    """Return when the next training is due; called inside the workspace."""
    lease = training_lease()
    due_since, reason = lease.due_at, lease.reason
    if holder := lease.living_holder(now):
        running = Training.objects.filter(pk=holder).first()
        reason = running.reason if running is not None else reason
        return NextTraining(
            True, due_since, reason, 0, f"A training runs: {WHY.get(reason, reason)}."
        )
    if due_since is not None:
        says = f"A training is due: {WHY.get(reason, reason)}."
        if reason == ERASED:
            says = "Something that was learned from was erased: a training is due."
        return NextTraining(False, due_since, reason, 0, says)
    if config.predictor_mode == "off":
        return NextTraining(False, None, "", None, "Learning is switched off.")
    missing, reason = _count_missing(state, config, now)
    if missing is None:
        return NextTraining(False, None, "", None, "No training is in sight.")
    sessions = "session" if missing == 1 else "sessions"
    says = f"{missing} more judged {sessions} until {AWAITED.get(reason, 'the next training')}."
    return NextTraining(False, None, reason, missing, says)


def _count_missing(
    state: PredictorState, config: WorkspaceSettings, now: datetime
) -> tuple[int | None, str]:
    """Return after how many more scored sessions a training is due, and why, by `due_reason`."""
    ahead = copy(state)
    for more in range(1, MISSING_MAX + 1):
        ahead.scored_sessions = state.scored_sessions + more
        if reason := due_reason(ahead, config, now):
            return more, reason
    return None, ""
