"""Format the status line of the predictor that an agent gets at session start."""

from __future__ import annotations

from predictor.core.governance import Phase
from predictor.models import PredictorState


def status_line(
    state: PredictorState,
    *,
    alpha: float,
    model: int | None,
    min_sessions: int,
    is_serving: bool,
    failures: int = 0,
) -> str:
    """Return one of the five lines of the contract.

    Parameters
    ----------
    alpha : the baseline's weight in this session.
    model : the version that scores; None when there is none.
    is_serving : whether the ranker may have influence, by its phase and the workspace's mode.
    failures : the failures that switched scoring off; 0 when it is on.
    """
    if failures:
        parts = ["disabled", f"failures={failures}/h", "baseline fallback"]
    elif state.phase == Phase.RETRAINING:
        parts = ["retraining", "drift detected", "baseline fallback"]
    elif model is None:
        parts = ["collecting", f"{state.scored_sessions}/{min_sessions} sessions", "baseline only"]
    elif not is_serving:
        rate = f"success_rate={state.success_rate:.2f}"
        parts = ["warming", rate, f"model_v{model}", "baseline only"]
    else:
        parts = [
            "active",
            f"success_rate={state.success_rate:.2f}",
            f"α={alpha:.2f}",
            f"model_v{model}",
            f"{state.scored_sessions} sessions",
        ]
    return f"[predictor: {' | '.join(parts)}]"
