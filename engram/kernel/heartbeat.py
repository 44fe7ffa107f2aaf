"""Report the state of each process (web, worker, beat) every few seconds, from its own thread.

Web processes, workers and the scheduler call `begin`; each then writes its latencies, the requests
of keys, and a row of `WorkerPulse`. `/pipeline/status` and `/metrics` read these rows, so any
process can answer for all, on every machine. A process that ends deletes its row; one that was
killed counts as dead after a minute.

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
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from time import perf_counter, sleep, time
from typing import Any

from django.db import Error, connection, connections
from psycopg_pool import PoolTimeout

from engram.kernel import keys, latency
from engram.kernel.models import WorkerPulse

log = logging.getLogger(__name__)

WRITE_SECONDS = 5.0
RETRY_SECONDS = 0.2
END_SECONDS = 5.0  # a process that ends waits so long for a report that is being written
GONE_AFTER = timedelta(seconds=60)
FORGOTTEN_AFTER = timedelta(days=1)
STARTING = timedelta(minutes=2)  # workers load their models before they first report
WAITING_WORKERS = frozenset({"models", "outgoing"})  # their threads wait for other servers


class ProcessCounters:
    """Counters of this process since its start, over all workspaces; without any content."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Reset the counters, in a forked process."""
        self._lock = threading.Lock()
        self._running = 0
        self._tasks: dict[str, Counter[str]] = defaultdict(Counter)
        self._errors: Counter[str] = Counter()
        self._requests: Counter[str] = Counter()
        self._stages: dict[str, latency.LatencyHistogram] = defaultdict(latency.LatencyHistogram)
        self._last_seconds: float | None = None

    def count_task_start(self) -> None:
        """Count a started task."""
        with self._lock:
            self._running += 1

    def count_task_end(self, name: str, outcome: str, seconds: float) -> None:
        """Count an ended task with its outcome and duration."""
        with self._lock:
            self._running = max(self._running - 1, 0)
            self._tasks[name][outcome] += 1
            self._last_seconds = seconds

    def count_stage(self, stage: str, seconds: float) -> None:
        """Count a run of a stage."""
        with self._lock:
            self._stages[stage].add(seconds, time())
            self._last_seconds = seconds

    def count_failure(self, stage: str, code: str) -> None:
        """Count a failure of a stage."""
        with self._lock:
            self._errors[f"{stage} {code}"] += 1

    def count_response(self, method: str, status: int) -> None:
        """Count a response."""
        with self._lock:
            self._requests[f"{method} {status}"] += 1

    def row(self, name: str, *, started_at: datetime, now: datetime) -> WorkerPulse:
        """Return the counters as a row of `WorkerPulse`."""
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
                        stage: {
                            "seconds": histogram.total_seconds,
                            "buckets": dict(histogram.counts),
                        }
                        for stage, histogram in self._stages.items()
                    },
                },
            )


tally = ProcessCounters()


class Heartbeat:
    """The thread that writes a process's row and latencies."""

    def __init__(self) -> None:
        self.kind = "command"
        self.started_at = datetime.now(UTC)
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None

    @property
    def name(self) -> str:
        """Return the name of this process, unique among running processes."""
        return f"{self.kind}@{socket.gethostname()[:80]}/{os.getpid()}"

    def begin(self, kind: str) -> None:
        """Start the thread; once per process."""
        if self._stop is not None:
            return
        self.kind, self.started_at = kind, datetime.now(UTC)
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(self._stop,), name="heartbeat", daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        """Write the remaining latencies and delete the row."""
        if self._stop is None or self._thread is None:
            return
        self._stop.set()
        self._stop = None
        self._thread.join(timeout=END_SECONDS)  # or it could write its row again
        if not _is_connected(tries=1):
            return
        try:
            latency.write(self.name)
            keys.uses.write()
            WorkerPulse.objects.filter(name=self.name).delete()
        except (Error, PoolTimeout) as error:
            log.warning("the last heartbeat was not written: %s", type(error).__name__)
        finally:
            connections.close_all()
            # An open pool delays the exit of a process by seconds.
            with suppress(KeyError):  # closed already
                connection.close_pool()  # type: ignore[attr-defined]

    def forget(self) -> None:
        """Reset after a fork: the child has no thread until it calls `begin`.

        Celery's workers call it in the children; a connection pool opened before a fork cannot be
        used after it.
        """
        self.kind, self._stop, self._thread = "command", None, None

    def _run(self, stop: threading.Event) -> None:
        while True:
            try:
                if _is_connected():
                    latency.write(self.name)
                    beat(tally.row(self.name, started_at=self.started_at, now=datetime.now(UTC)))
                    keys.uses.write()
            except (Error, PoolTimeout) as error:
                log.warning("the heartbeat was not written: %s", type(error).__name__)
            except Exception:
                log.exception("the heartbeat was not written")
            finally:
                connections.close_all()  # this thread's connection, returned to the pool
            if stop.wait(WRITE_SECONDS):
                return


def _is_connected(tries: int = 3) -> bool:
    """Open a connection; return False if there is none: the counts are written later.

    Celery closes the pool before and after each task, possibly at this moment: then retry.
    """
    for left in reversed(range(tries)):
        try:
            connection.ensure_connection()
        except (Error, PoolTimeout, KeyError) as error:
            if not left:
                log.warning("the heartbeat found no database: %s", type(error).__name__)
                return False
            sleep(RETRY_SECONDS)
        else:
            return True
    raise AssertionError  # the last iteration returns


def beat(row: WorkerPulse) -> None:
    """Write a process's row, and delete rows without a heartbeat for a day."""
    WorkerPulse.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["started_at", "beat_at", "is_busy", "counts", "last_ms"],
    )
    WorkerPulse.objects.filter(beat_at__lt=row.beat_at - FORGOTTEN_AFTER).delete()


def recent_processes(now: datetime, within: timedelta = GONE_AFTER) -> list[WorkerPulse]:
    """Return the processes with a recent heartbeat, by name."""
    return list(WorkerPulse.objects.filter(beat_at__gte=now - within).order_by("name"))


def is_alive(row: WorkerPulse, now: datetime) -> bool:
    """Return whether a process had a heartbeat within a minute."""
    return row.beat_at >= now - GONE_AFTER


def are_starting(rows: Sequence[WorkerPulse], now: datetime) -> bool:
    """Return whether all living processes are so young that others may not have reported yet."""
    return bool(rows) and all(now - row.started_at < STARTING for row in rows)


def kind_of(row: WorkerPulse) -> str:
    """Return the kind of a process: web, worker, models, outgoing, beat or mcp."""
    return row.name.partition("@")[0]


def own_name() -> str:
    """Return the name of this process."""
    return _pulse.name


def begin(kind: str) -> None:
    """Start reporting this process; `kind` is web, worker, models, outgoing, beat or mcp."""
    _pulse.begin(kind)


def end() -> None:
    """Write the last report of this process."""
    _pulse.end()


def _write_latencies() -> None:
    """Write the latencies of a process without a thread, such as a command."""
    latency.write(own_name())


def _after_fork() -> None:
    tally.reset()
    _pulse.forget()


_pulse = Heartbeat()
os.register_at_fork(after_in_child=_after_fork)
atexit.register(_write_latencies)
atexit.register(end)  # the last one registered runs first


def connect_signals() -> None:
    """Connect Celery's signals of worker processes and tasks."""
    from celery import signals

    signals.worker_process_init.connect(_worker_process_began, weak=False)
    signals.worker_ready.connect(_worker_ready, weak=False)
    signals.beat_init.connect(_beat_began, weak=False)
    signals.task_prerun.connect(_count_task_start, weak=False)
    signals.task_postrun.connect(_count_task_end, weak=False)
    signals.worker_process_shutdown.connect(_on_exit, weak=False)
    signals.worker_shutdown.connect(_on_exit, weak=False)


_began: dict[str, float] = {}


def _worker_process_began(**_: Any) -> None:
    begin("worker")


def _worker_ready(sender: Any, **_: Any) -> None:
    # With a thread pool there is no signal of a worker process.
    if type(sender.pool).__module__.endswith(".thread"):
        name = sender.hostname.partition("@")[0]
        begin(name if name in WAITING_WORKERS else "worker")


def _beat_began(**_: Any) -> None:
    begin("beat")


def _count_task_start(task_id: str, **_: Any) -> None:
    _began[task_id] = perf_counter()
    tally.count_task_start()


def _count_task_end(task_id: str, task: Any, state: str | None = None, **_: Any) -> None:
    now = perf_counter()
    seconds = now - _began.pop(task_id, now)
    tally.count_task_end(task.name, "done" if state == "SUCCESS" else "failed", seconds)


def _on_exit(**_: Any) -> None:
    end()
