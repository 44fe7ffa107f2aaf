"""The predictor's health: the formula and its inputs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from engram.console.diagnostics.domain import STARTING_WORDS, Domain
from engram.kernel import heartbeat, latency
from engram.kernel.models import Workspace
from memories.core.shares import percent
from memories.services.sessions.ranker_hook import STAGE
from predictor.core.calibration import FLAG_ERROR
from predictor.core.governance import SERVING
from predictor.models import PredictorState, TrainingLease
from predictor.services.calibration.report import calibration_of
from predictor.services.judging.drift import (
    DRIFT_THRESHOLD,
    is_drifting,
    judge_drift,
    latest_drift,
)
from predictor.services.serving import breaker
from predictor.services.state import governor_of, state_of
from predictor.services.status import track_record
from predictor.services.status.drafted_lists import DraftedLists, read_drafted_lists
from predictor.services.status.scoreboard import Scoreboard
from predictor.services.training.due import ERASED, training_lease

HOUR = timedelta(hours=1)
COLD_START = 0.6
BEHIND = 0.5  # serves, but is rarely better
AHEAD = 0.8
AHEAD_RATE = 0.4  # above this success rate it is ahead
TOO_SLOW = 0.2
ENOUGH_TIMED = 20  # rankings of the last hour before their p95 is more than the slowest one
DRIFTING = 0.1
ENOUGH_RATED = 10  # ratings by people before their distance from the judge is told as a fault
DRIFT_WINDOWS = 4  # the newest; older ones do not describe the present judge


@dataclass(frozen=True, slots=True)
class Signs:
    """The inputs of a predictor's health.

    `is_serving` is False in cold start, also in the one after a drift reset.
    """

    is_worker_alive: bool
    is_disabled: bool
    is_serving: bool
    success_rate: float
    is_slow: bool = False  # p95 of scoring exceeds the timeout
    is_judge_drifting: bool = False


def score(signs: Signs) -> float:
    """Return the health in [0, 1]; the source document's formula."""
    if not signs.is_worker_alive or signs.is_disabled:
        return 0.0
    if not signs.is_serving:
        health = COLD_START
    elif signs.success_rate > AHEAD_RATE:
        health = AHEAD + 0.2 * signs.success_rate
    else:
        health = BEHIND
    health -= TOO_SLOW * signs.is_slow + DRIFTING * signs.is_judge_drifting
    return round(min(max(health, 0.0), 1.0), 6)


def _is_slow(speed: latency.Latency, timeout_ms: int) -> bool:
    """Return whether p95 exceeds the timeout; of a few rankings it would be the first, unwarmed."""
    is_over = speed.p95 is not None and speed.p95 * 1000 > timeout_ms
    return is_over and speed.count >= ENOUGH_TIMED


def predictor(
    workspace: Workspace,
    *,
    now: datetime,
    drafted: DraftedLists | None = None,
    board: Scoreboard | None = None,
) -> Domain:
    """Score the current workspace's predictor; `drafted` are the figures, if they are known.

    The scoreboard is among the fields if it is given: it is read for those alone who ask for it.
    """
    config = workspace.config
    state, lease = state_of(), training_lease()
    speed = latency.read_latencies([STAGE], since=now - HOUR)[STAGE]
    processes = heartbeat.recent_processes(now)
    drift = judge_drift(now, windows=DRIFT_WINDOWS)
    signs = Signs(
        is_worker_alive=any(heartbeat.kind_of(row) == "worker" for row in processes),
        is_disabled=breaker.is_open(state, now),
        is_serving=state.phase in SERVING,
        success_rate=state.success_rate,
        is_slow=_is_slow(speed, config.score_timeout_ms),
        is_judge_drifting=is_drifting(drift),
    )
    calibration = calibration_of(now=now)
    if drafted is None:
        drafted = read_drafted_lists(governor_of(state), mode=config.predictor_mode)
    fields: dict[str, Any] = {
        "mode": config.predictor_mode,
        "phase": state.phase,
        "worker_alive": signs.is_worker_alive,
        "last_ms": _ms(speed.last),
        "mean_ms": _ms(speed.mean),
        "p95_ms": _ms(speed.p95),
        "timeout_ms": config.score_timeout_ms,
        "failures_last_hour": breaker.failures(state, now),
        "failures_allowed": config.disable_threshold,
        "disabled_until": state.disabled_until if signs.is_disabled else None,
        "model_version": state.served,
        "scored_sessions": state.scored_sessions,
        "min_sessions": config.min_training_sessions,
        "success_rate": state.success_rate,
        "comparisons": track_record.comparison_count(),
        "judged_by": {one.judge: one.sessions for one in track_record.judged_by()},
        "alpha": state.alpha,
        "drift_resets": state.drift_resets,
        "last_training": track_record.last_training(),
        "training_due": _training_due(lease),
        "judge_drift": {
            "signal": latest_drift(drift),
            "threshold": DRIFT_THRESHOLD,
            "is_over": signs.is_judge_drifting,
        },
        "calibration": {
            "labels": calibration.report.n,
            "mean_absolute_error": calibration.report.mae,
            "threshold": FLAG_ERROR,
            "is_over": calibration.is_flagged,
            "waiting": calibration.waiting,
        },
        "slices": asdict(track_record.slices()),
        "drafted_lists": asdict(drafted),
        "scoreboard": board,
    }
    if config.predictor_mode == "off":
        return Domain("predictor", 1.0, "The learned ranking is switched off.", fields)
    is_starting = not signs.is_worker_alive and heartbeat.are_starting(processes, now)
    sentence = _describe(signs, state, lease, config.predictor_mode, drafted.says)
    if calibration.is_flagged and calibration.report.n >= ENOUGH_RATED:
        are = "are" if calibration.report.is_certain else "may be"
        sentence += f" People and the judge {are} far apart."
    if is_starting:
        sentence = STARTING_WORDS
    health = score(signs)
    is_learning = not signs.is_serving and health == COLD_START
    return Domain(
        "predictor", health, sentence, fields, is_learning=is_learning, is_starting=is_starting
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)


def _training_due(lease: TrainingLease) -> dict[str, Any] | None:
    if lease.due_at is None:
        return None
    return {"since": lease.due_at, "reason": lease.reason}


def _describe(
    signs: Signs, state: PredictorState, lease: TrainingLease, mode: str, distance: str
) -> str:
    if not signs.is_worker_alive:
        return "No worker has been heard of for a minute: nothing is judged and nothing trained."
    if signs.is_disabled:
        return "Scoring failed too often and is switched off for now; the baseline's order serves."
    sentences = []
    if not signs.is_serving:
        doing = "has learned nothing yet" if state.served is None else "learns and is compared"
        sentences.append(f"It {doing}; the baseline's order serves.")
    elif mode == "collect":
        sentences.append("It learns only, so the baseline serves.")
    else:
        sentences.append(f"It serves with {percent(1 - state.alpha)} of the weight.")
    if state.served is not None:
        sentences.append(distance)
    if signs.is_serving and signs.success_rate <= AHEAD_RATE:
        sentences.append("It is rarely better than the baseline.")
    if lease.due_at is not None and lease.reason == ERASED:
        sentences.append("Something that it may hold was erased: a training without it is due.")
    if signs.is_slow:
        sentences.append("Scoring takes longer than the timeout.")
    if signs.is_judge_drifting:
        sentences.append("The judge has come to favour new memories (or old ones).")
    return " ".join(sentences)
