"""The processes with a heartbeat within an hour, and their counts for the workspace."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from engram.kernel import heartbeat
from engram.kernel.models import WorkerTally, Workspace
from memories.services.sessions.ranker_hook import STAGE
from predictor.core.governance import SERVING
from predictor.services.serving import breaker
from predictor.services.state import state_of

TRAIN_STAGE = "predictor_train"
LISTED = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Worker:
    """One process; counts are of the workspace's work since the process started."""

    name: str
    kind: str
    started_at: datetime
    heard_at: datetime
    uptime_seconds: float
    is_running: bool  # a heartbeat within a minute
    model_ready: bool
    scores: int
    trainings: int
    last_ms: float | None  # duration of the workspace's last scoring in this process
    stages: dict[str, int]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """All processes, and the state of the workspace's predictor."""

    at: datetime
    is_running: bool  # a worker and a scheduler run
    model_ready: bool
    workers: Sequence[Worker]


def pipeline(workspace: Workspace, *, now: datetime, tells_names: bool) -> Pipeline:
    """Return the processes as the current workspace may see them.

    A name contains the machine and the process id; without `tells_names` processes are numbered by
    kind.
    """
    rows = heartbeat.recent_processes(now, within=LISTED)
    numbers: Counter[str] = Counter()
    tallies: dict[str, dict[str, WorkerTally]] = defaultdict(dict)
    for tally in WorkerTally.objects.filter(worker__in=[row.name for row in rows]):
        tallies[tally.worker][tally.stage] = tally
    is_ready = _is_model_ready(workspace, now)
    workers = []
    for row in rows:
        own = tallies[row.name]
        scored, trained = own.get(STAGE), own.get(TRAIN_STAGE)
        kind = heartbeat.kind_of(row)
        numbers[kind] += 1
        workers.append(
            Worker(
                name=row.name if tells_names else f"{kind} {numbers[kind]}",
                kind=kind,
                started_at=row.started_at,
                heard_at=row.beat_at,
                uptime_seconds=max((now - row.started_at).total_seconds(), 0.0),
                is_running=heartbeat.is_alive(row, now),
                model_ready=is_ready,
                scores=scored.count if scored else 0,
                trainings=trained.count if trained else 0,
                last_ms=round(scored.last_seconds * 1000, 3) if scored else None,
                stages={stage: tally.count for stage, tally in sorted(own.items())},
            )
        )
    kinds = {worker.kind for worker in workers if worker.is_running}
    return Pipeline(now, {"worker", "beat"} <= kinds, is_ready, workers)


def _is_model_ready(workspace: Workspace, now: datetime) -> bool:
    """Return whether a trained model is in use: past cold start, and not switched off."""
    state = state_of()
    return (
        workspace.config.predictor_mode != "off"
        and state.served is not None
        and state.phase in SERVING
        and not breaker.is_open(state, now)
    )
