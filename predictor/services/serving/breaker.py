"""Circuit breaker: switches scoring off for an hour after too many failures within an hour.

Failures are counted from the stage's errors (`kernel/telemetry.py`) under the lock of the
workspace's state, so that concurrent failures open the breaker once. A model that is still loading
is not a failure: the load continues, and each process is late with it once.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from engram.kernel import telemetry
from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.history import record
from engram.kernel.models import StageError, Workspace
from engram.kernel.tenancy import in_workspace
from memories.services.sessions.ranker_hook import STAGE
from predictor.models import PredictorState
from predictor.services.state import lock_state

PERIOD = timedelta(hours=1)
LOADING = "predictor_loading"


def is_open(state: PredictorState, now: datetime) -> bool:
    """Return whether scoring is switched off.

    A time beyond the period, from a clock that was set back, does not count.
    """
    until = state.disabled_until
    return until is not None and timedelta(0) < until - now <= PERIOD


def failures(state: PredictorState, now: datetime) -> int:
    """Count the failures of the last hour; while the breaker is open, those that opened it."""
    until = now
    if is_open(state, now) and state.disabled_until is not None:
        until = state.disabled_until - PERIOD
    since = until - PERIOD
    if state.failures_count_from is not None:
        since = max(since, state.failures_count_from)
    errors = StageError.objects.filter(stage=STAGE, at__gt=since, at__lte=until)
    return errors.exclude(code=LOADING).count()


def note_failure(
    state: PredictorState,
    code: str,
    detail: str,
    *,
    session_key: str,
    threshold: int,
    now: datetime,
) -> None:
    """Record one failure and open the breaker at the threshold; the state is locked."""
    telemetry.record_error(STAGE, code, detail=detail, session_key=session_key, now=now)
    if code == LOADING:
        return
    count = failures(state, now)
    if count < min(threshold, telemetry.ERRORS_KEPT) or is_open(state, now):
        return
    state.disabled_until = now + PERIOD
    state.updated_at = now
    state.save(update_fields=["disabled_until", "updated_at"])
    record(
        "predictor.disabled",
        of=("predictor", state.workspace_id),
        actor=SYSTEM,
        now=now,
        session_key=session_key,
        data={"failures": count, "code": code, "until": state.disabled_until.isoformat()},
    )


def enable(workspace: Workspace, *, actor: Actor, now: datetime) -> None:
    """Close the breaker and ignore the failures so far; does nothing when it is closed."""
    with in_workspace(workspace):
        state = lock_state(now)
        if not is_open(state, now):
            return
        state.disabled_until = None
        state.failures_count_from = now
        state.updated_at = now
        state.save(update_fields=["disabled_until", "failures_count_from", "updated_at"])
        record("predictor.enabled", of=("predictor", workspace.pk), actor=actor, now=now)
