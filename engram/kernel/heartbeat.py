"""What a process that serves or works tells of itself, every few seconds, from a thread of its own.

Web processes, workers and the scheduler `begin`; each then writes the latencies that it counted
and keeps a row of `WorkerPulse`, which is what `/pipeline/status` and `/metrics` read: whichever
process answers, it knows of all, on every machine. A process that ends takes its row away; one
that was killed is taken for dead after a minute.

prometheus_client writes `/metrics` (`console/metrics.py`), but its multiprocess mode counts nothing
here: it adds up files of one machine, and keeps neither 35 days of each workspace nor the last run
of each process. It would replace `ProcessCounters` alone, 70 lines of the 720 of telemetry.
"""

from __future__ import annotations

import atexit
import logging
import os
import socket
import threading
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from time import perf_counter, sleep, time
from typing import Any

from django.db import Error, connection, connections
from psycopg_pool import PoolTimeout

from engram.kernel import latency
from engram.kernel.models import WorkerPulse

log = logging.getLogger(__name__)

WRITE_SECONDS = 5.0
RETRY_SECONDS = 0.2
GONE_AFTER = timedelta(seconds=60)
FORGOTTEN_AFTER = timedelta(days=1)


class ProcessCounters:
    """What this process has done since it began, over all workspaces; never what it was about."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """Begin at nothing: a forked process has not done what its parent did."""
        self._lock = threading.Lock()
        self._running = 0
        self._tasks: dict[str, Counter[str]] = defaultdict(Counter)
        self._errors: Counter[str] = Counter()
        self._requests: Counter[str] = Counter()
        self._stages: dict[str, latency.LatencyHistogram] = defaultdict(latency.LatencyHistogram)
        self._last_seconds: float | None = None

    def task_began(self) -> None:
        """Note that a task is under way."""
        with self._lock:
            self._running += 1

    def task_ended(self, name: str, outcome: str, seconds: float) -> None:
        """Note how a task ended."""
        with self._lock:
            self._running = max(self._running - 1, 0)
            self._tasks[name][outcome] += 1
            self._last_seconds = seconds

    def stage_ran(self, stage: str, seconds: float) -> None:
        """Note that a stage ran."""
        with self._lock:
            self._stages[stage].add(seconds, time())
            self._last_seconds = seconds

    def failed(self, stage: str, code: str) -> None:
        """Note a failure."""
        with self._lock:
            self._errors[f"{stage} {code}"] += 1

    def answered(self, method: str, status: int) -> None:
        """Note the answer to a request."""
        with self._lock:
            self._requests[f"{method} {status}"] += 1

    def row(self, name: str, *, started_at: datetime, now: datetime) -> WorkerPulse:
        """Return the row that says so."""
        with self._lock:
            return WorkerPulse(
                name=name,
                started_at=started_at,
                beat_at=now,
                is_busy=self._running > 0,
                last_ms=None if self._last_seconds is None else self._last_seconds * 1000,
                counts={
                    "tasks": {task: dict(outcomes) for task, outcomes in self._tasks.items()},
                    "errors": dict(self._errors),
                    "requests": dict(self._requests),
                    "stages": {
                        stage: {"seconds": heap.total_seconds, "buckets": dict(heap.counts)}
                        for stage, heap in self._stages.items()
                    },
                },
            )


tally = ProcessCounters()


class Heartbeat:
    """The thread of a process that serves or works."""

    def __init__(self) -> None:
        self.kind = "command"
        self.started_at = datetime.now(UTC)
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None

    @property
    def name(self) -> str:
        """Return the name of this process, which no other one has at the same time."""
        return f"{self.kind}@{socket.gethostname()[:80]}/{os.getpid()}"

    def begin(self, kind: str) -> None:
        """Start to write; once a process."""
        if self._stop is not None:
            return
        self.kind, self.started_at = kind, datetime.now(UTC)
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(self._stop,), name="pulse", daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        """Write what waits and take the row away."""
        if self._stop is None or self._thread is None:
            return
        self._stop.set()
        self._stop = None
        self._thread.join(timeout=1)  # else it might write its row once more
        if not _is_connected(tries=1):
            return
        try:
            latency.write(self.name)
            WorkerPulse.objects.filter(name=self.name).delete()
        except (Error, PoolTimeout) as error:
            log.warning("the last pulse was not written: %s", type(error).__name__)
        finally:
            connections.close_all()
            # A pool that is open delays the end of a process by seconds.
            with suppress(KeyError):  # closed already
                connection.close_pool()  # type: ignore[attr-defined]

    def forget(self) -> None:
        """Be a process of its own after a fork: without its parent's thread, until it begins.

        Who forks begins in the children, as Celery's workers do: a pool of connections that was
        opened before a fork is of no use after it.
        """
        self.kind, self._stop, self._thread = "command", None, None

    def _run(self, stop: threading.Event) -> None:
        while True:
            try:
                if _is_connected():
                    latency.write(self.name)
                    beat(tally.row(self.name, started_at=self.started_at, now=datetime.now(UTC)))
            except (Error, PoolTimeout) as error:
                log.warning("the pulse was not written: %s", type(error).__name__)
            except Exception:
                log.exception("the pulse was not written")
            finally:
                connections.close_all()  # this thread's alone; the pool has it back
            if stop.wait(WRITE_SECONDS):
                return


def _is_connected(tries: int = 3) -> bool:
    """Get one connection for all that follows; without one, what was counted waits.

    Celery closes the pool before and after each task, perhaps while we ask it: then once more.
    """
    for left in reversed(range(tries)):
        try:
            connection.ensure_connection()
        except (Error, PoolTimeout, KeyError) as error:
            if not left:
                log.warning("the pulse found no database: %s", type(error).__name__)
                return False
            sleep(RETRY_SECONDS)
        else:
            return True
    raise AssertionError  # the last round returns


def beat(row: WorkerPulse) -> None:
    """Write a process's row, and forget processes that were silent for a day."""
    WorkerPulse.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["started_at", "beat_at", "is_busy", "counts", "last_ms"],
    )
    WorkerPulse.objects.filter(beat_at__lt=row.beat_at - FORGOTTEN_AFTER).delete()


def recent_processes(now: datetime, within: timedelta = GONE_AFTER) -> list[WorkerPulse]:
    """Return the processes that were heard of lately, by name."""
    return list(WorkerPulse.objects.filter(beat_at__gte=now - within).order_by("name"))


def is_alive(row: WorkerPulse, now: datetime) -> bool:
    """Tell whether a process was heard of within a minute."""
    return row.beat_at >= now - GONE_AFTER


def kind_of(row: WorkerPulse) -> str:
    """Return what a process does: web, worker, models or beat."""
    return row.name.partition("@")[0]


def own_name() -> str:
    """Return the name of this process."""
    return _pulse.name


def begin(kind: str) -> None:
    """Start to tell of this process; `kind` is web, worker, models or beat."""
    _pulse.begin(kind)


def end() -> None:
    """Tell for the last time."""
    _pulse.end()


def _write_latencies() -> None:
    """Write what a process without a thread, such as a command, has counted."""
    latency.write(own_name())


def _after_fork() -> None:
    tally.begin_anew()
    _pulse.forget()


_pulse = Heartbeat()
os.register_at_fork(after_in_child=_after_fork)
atexit.register(_write_latencies)
atexit.register(end)  # the last one registered runs first


def connect_signals() -> None:
    """Hear from Celery when a worker's process begins, works and ends."""
    from celery import signals

    signals.worker_process_init.connect(_worker_process_began, weak=False)
    signals.worker_ready.connect(_worker_ready, weak=False)
    signals.beat_init.connect(_beat_began, weak=False)
    signals.task_prerun.connect(_task_began, weak=False)
    signals.task_postrun.connect(_task_ended, weak=False)
    signals.worker_process_shutdown.connect(_on_exit, weak=False)
    signals.worker_shutdown.connect(_on_exit, weak=False)


_began: dict[str, float] = {}


def _worker_process_began(**_: Any) -> None:
    begin("worker")


def _worker_ready(sender: Any, **_: Any) -> None:
    # Threads work in the worker's own process, which no signal tells of.
    if type(sender.pool).__module__.endswith(".thread"):
        begin("models")


def _beat_began(**_: Any) -> None:
    begin("beat")


def _task_began(task_id: str, **_: Any) -> None:
    _began[task_id] = perf_counter()
    tally.task_began()


def _task_ended(task_id: str, task: Any, state: str | None = None, **_: Any) -> None:
    now = perf_counter()
    seconds = now - _began.pop(task_id, now)
    tally.task_ended(task.name, "done" if state == "SUCCESS" else "failed", seconds)


def _on_exit(**_: Any) -> None:
    end()
