"""The end of a training: one transaction in which a model begins to serve, or nothing changes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from engram.kernel import telemetry
from engram.kernel.lease import lease_of, release
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from predictor.core.gates import overlap_of
from predictor.models import PredictorState, Training, TrainingLease, TrainingStatus
from predictor.services.models import store
from predictor.services.state import lock_state
from predictor.services.training import unlearn
from predictor.services.training.claim import (
    TAKEN_OVER,
    SwitchedOffError,
    TrainingClaim,
    holds,
    note_attempt,
    record_training,
)
from predictor.services.training.due import ERASED, due_reason, note_training_due
from predictor.services.training.learn import TrainingResult
from predictor.services.training.material import Material

STAGE = "predictor_train"


def finish(
    workspace: Workspace,
    claim: TrainingClaim,
    material: Material | None,
    result: TrainingResult | None,
    error: str,
    *,
    now: datetime,
) -> Training:
    """Store the result of a training; serve the model when every gate was passed.

    A training that lost the workspace, or whose predictor was switched off meanwhile, changes only
    its own row, and its weights are not stored.
    """
    with in_workspace(workspace):
        state = lock_state(now)
        training = Training.objects.get(pk=claim.training_id)
        is_ours = holds(claim, workspace.pk)
        workspace = Workspace.objects.get(pk=workspace.pk)  # as it is by now
        model, is_off = workspace.embedding_model, workspace.config.predictor_mode == "off"
        if training.status != TrainingStatus.RUNNING:  # somebody has closed it
            if is_ours:
                release(lease_of(TrainingLease, workspace.pk), claim.training_id)
            return training
        if not is_ours:
            error = TAKEN_OVER
        elif material is not None and material.embedding_model != model:
            error = error or f"The workspace compares the vectors of {model} since."
        elif material is not None and material.state_served != state.served:
            error = error or "Another model serves since."
        training.finished_at = now
        if is_off:
            training.status, training.error = TrainingStatus.SKIPPED, str(SwitchedOffError())
        else:
            _measure(training, material, result)
            training.status, training.error = _outcome(result, error)
        if training.status == TrainingStatus.PROMOTED:
            _promote(state, training, material, result, now)
        training.save()
        if is_ours:
            _release(state, claim, workspace, now)
            if is_off or (claim.reason == ERASED and training.status != TrainingStatus.PROMOTED):
                unlearn.drop_erased(workspace, state, now)
        _account(state, training, is_ours=is_ours, now=now)
    return training


def _outcome(result: TrainingResult | None, error: str) -> tuple[TrainingStatus, str]:
    if error or result is None:
        return TrainingStatus.FAILED, error
    if not result.gates:
        return TrainingStatus.SKIPPED, "There are too few sessions to learn from."
    if not result.may_serve:
        return TrainingStatus.REJECTED, ""
    return TrainingStatus.PROMOTED, ""


def _promote(
    state: PredictorState,
    training: Training,
    material: Material | None,
    result: TrainingResult | None,
    now: datetime,
) -> None:
    if material is None or result is None or result.scorer is None:
        raise ValueError("nothing was learned that could be promoted")
    version = store.add(
        state,
        result.scorer,
        origin=store.TRAINED,
        model=material.embedding_model,
        now=now,
    )
    is_first = state.served is None
    is_compared = is_first or material.served is not None
    store.serve(state, version, now, is_compared=is_compared)
    training.version = version.number


def _release(
    state: PredictorState, claim: TrainingClaim, workspace: Workspace, now: datetime
) -> None:
    """Release the workspace, and mark the next training if it is due already."""
    note_attempt(state, claim.reason, scored=claim.scored_sessions, now=now)
    release(lease_of(TrainingLease, workspace.pk), claim.training_id)
    is_reset = state.drift_resets > claim.drift_resets
    if reason := due_reason(state, workspace.config, now, is_reset=is_reset):
        note_training_due(state, reason, now)


def _measure(training: Training, material: Material | None, result: TrainingResult | None) -> None:
    if material is not None:
        training.base_version = material.served_number
        training.session_count = len(material.sessions)
        training.replay_count = material.replay_count
        training.skipped_count = material.skipped
        training.label_count = material.label_count
        training.canary_count = len(material.canary)
        training.trained_session_ids = [session.id for session in material.sessions]
    if result is None:
        return
    for name, value in figures(result).items():
        setattr(training, name, value)
    training.progress = 1.0
    training.gates = [
        {"name": gate.name, "is_passed": gate.is_passed, "detail": gate.detail}
        for gate in result.gates
    ]
    training.cpu_ms = round(result.cpu_seconds * 1000)
    training.duration_ms = round(result.seconds * 1000)
    if result.report is not None:
        training.skipped_count += result.report.samples_skipped
        training.loss = result.report.loss


def figures(result: TrainingResult) -> dict[str, Any]:
    """Return the canary figures: nDCG of both models, score variance, change of the first five."""
    before, after = result.before, result.after
    ndcg = _mean(after.ndcg) if after else None
    ndcg_before = _mean(before.ndcg) if before else None
    is_pair = ndcg is not None and ndcg_before is not None
    return {
        "canary_ndcg": ndcg,
        "canary_ndcg_before": ndcg_before,
        "canary_ndcg_delta": ndcg - ndcg_before if is_pair else None,  # type: ignore[operator]
        "canary_score_variance": after.score_variance if after else None,
        "canary_topk_churn": 1 - overlap_of(before, after) if before and after else None,
    }


def _mean(values: Any) -> float | None:
    return float(sum(values) / len(values)) if values else None


def _account(state: PredictorState, training: Training, *, is_ours: bool, now: datetime) -> None:
    record_training(state, "training.finished", training, now)
    if training.duration_ms is not None:
        telemetry.observe(STAGE, training.duration_ms / 1000)
    if training.status == TrainingStatus.FAILED and is_ours:
        telemetry.record_error(STAGE, "predictor_train_failure", detail=training.error, now=now)
    telemetry.log_event(
        "train",
        "predictor",
        status=training.status,
        reason=training.reason,
        sessions=training.session_count,
        version=training.version,
        cpu_ms=training.cpu_ms,
    )
