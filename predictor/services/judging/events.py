"""Record the events and log lines of a settled session; they hold ids and numbers only."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from engram.kernel import telemetry
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from predictor.core.governance import Phase
from predictor.models import Comparison, Judgement

CATEGORY = "predictor"
COLD = frozenset({Phase.COLLECTING, Phase.WARMING, Phase.RETRAINING})


def record_settlement(
    judgement: Judgement, comparison: Comparison, *, was: Phase, now: datetime
) -> None:
    """Record the events of a settled session; `was` is the phase before it."""
    session = comparison.session

    def event(type: str, of: tuple[str, Any], data: dict[str, Any]) -> None:  # noqa: A002
        record(type, of=of, actor=SYSTEM, now=now, session_key=session.session_key, data=data)

    event(
        "session.judged",
        ("session", session.id),
        {
            "judgement": str(judgement.id),
            "kind": judgement.kind,
            "version": judgement.version,
            "overall": judgement.overall,
            "confidence": judgement.confidence,
            "memories": len(judgement.memory_ids),
            "void_reason": judgement.void_reason,
        },
    )
    event("comparison.recorded", ("comparison", comparison.id), _figures(comparison))
    predictor = ("predictor", comparison.workspace_id)
    if comparison.is_drift_reset:
        event("predictor.drift_reset", predictor, {"comparison": str(comparison.id)})
    if was in COLD and comparison.phase == Phase.RAMP:
        event(
            "predictor.cold_start_exit",
            predictor,
            {"comparison": str(comparison.id), "alpha": comparison.alpha},
        )
    transaction.on_commit(lambda: _log(comparison, was))


def _figures(comparison: Comparison) -> dict[str, Any]:
    return {
        "session": str(comparison.session_id),
        "outcome": comparison.outcome,
        "void_reason": comparison.void_reason,
        "margin": comparison.margin,
        "alpha": comparison.alpha,
        "phase": comparison.phase,
        "success_rate": comparison.success_rate,
    }


def _log(comparison: Comparison, was: Phase) -> None:
    """Write the log lines of a settled session, after the commit."""
    key = comparison.session.session_key

    def line(event: str, **fields: object) -> None:
        telemetry.log_event(event, CATEGORY, session_key=key, **fields)

    line(
        "compare",
        outcome=comparison.outcome,
        margin=comparison.margin,
        drafted_margin=comparison.drafted_margin,
        predictor_ndcg=comparison.predictor_ndcg,
        baseline_ndcg=comparison.baseline_ndcg,
        model_version=comparison.model_version,
    )
    if comparison.fts_overlap is not None:
        line("fts_overlap", share=comparison.fts_overlap)
    if comparison.is_evidence:
        line("ema_update", success_rate=comparison.success_rate, alpha=comparison.alpha)
    else:
        line("ema_skip", reason=comparison.void_reason)
    if comparison.is_drift_reset:
        line("drift_reset", resets=comparison.evidence["drift_resets"])
    if was in COLD and comparison.phase == Phase.RAMP:
        line("cold_start_exit", alpha=comparison.alpha)
