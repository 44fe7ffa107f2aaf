"""Latencies of stages: counted in memory, written every few seconds, read as percentiles.

A histogram has geometric buckets with ratio 1.1, from 10 µs to twelve minutes; a percentile is the
middle of its bucket, with an error of at most 5 %. Counting costs microseconds and no query;
`write` is called by the thread of `engram.kernel.heartbeat` and when a process ends. A failed write
drops its counts, so that nothing is counted twice; like a killed process, it loses at most one
interval.
"""

from __future__ import annotations

import logging
import math
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import time
from uuid import UUID

from django.db import Error, IntegrityError, connection
from django.db.models import QuerySet
from psycopg_pool import PoolTimeout

from engram.kernel.models import LatencyHour, WorkerTally, Workspace
from engram.kernel.tenancy import in_workspace

log = logging.getLogger(__name__)

FLOOR_SECONDS = 1e-5
RATIO = 1.1  # the middle of a bucket is off by sqrt(1.1) - 1 = 4.9 % at most
BUCKETS = 190  # up to 12 minutes, longer than any task may run
KEPT = timedelta(days=35)
HOUR = 3600
_LOG_RATIO = math.log(RATIO)


def bucket_of(seconds: float) -> int:
    """Return the bucket of a duration; values that are not positive fall in the first."""
    if not seconds > FLOOR_SECONDS:
        return 0
    if seconds >= HOUR:  # the division would overflow for the largest floats
        return BUCKETS - 1
    return min(int(math.log(seconds / FLOOR_SECONDS) / _LOG_RATIO), BUCKETS - 1)


def seconds_of(bucket: int) -> float:
    """Return the middle of a bucket, in seconds."""
    return float(FLOOR_SECONDS * RATIO ** (bucket + 0.5))


def percentile(counts: Sequence[int], share: float) -> float | None:
    """Return the quantile `share` (0..1) of the counted durations; None without any."""
    total = sum(counts)
    if not total:
        return None
    rank = max(math.ceil(share * total), 1)
    for bucket, count in enumerate(counts):
        rank -= count
        if rank <= 0:
            return seconds_of(bucket)
    return seconds_of(BUCKETS - 1)


def add_histograms(histograms: Iterable[Sequence[int]]) -> list[int]:
    """Return the sum of histograms."""
    total = [0] * BUCKETS
    for counts in histograms:
        for bucket, count in enumerate(counts[:BUCKETS]):
            total[bucket] += count
    return total


@dataclass(slots=True)
class LatencyHistogram:
    """Counted durations that are not written yet."""

    counts: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    total_seconds: float = 0.0
    last_seconds: float = 0.0
    last_at: float = 0.0

    def add(self, seconds: float, at: float) -> None:
        """Count one duration."""
        self.counts[bucket_of(seconds)] += 1
        self.total_seconds += seconds
        self.last_seconds, self.last_at = seconds, at

    def bucket_counts(self) -> list[int]:
        """Return the counts of all buckets."""
        return [self.counts.get(bucket, 0) for bucket in range(BUCKETS)]


StageHour = tuple[UUID, str, int]  # workspace, stage, hour since the epoch


class PendingLatencies:
    """The unwritten durations of this process; safe for threads and forks."""

    def __init__(self) -> None:
        self.clock: Callable[[], float] = time
        self.reset()

    def reset(self) -> None:
        """Drop the parent's counts in a forked process; the parent writes them."""
        self._lock = threading.Lock()
        self._histograms: dict[StageHour, LatencyHistogram] = {}

    def add(self, workspace_id: UUID, stage: str, seconds: float) -> None:
        """Count one run of a stage."""
        at = self.clock()
        key = (workspace_id, stage, int(at) // HOUR)
        with self._lock:
            histogram = self._histograms.get(key)
            if histogram is None:
                histogram = self._histograms[key] = LatencyHistogram()
            histogram.add(seconds, at)

    def pop_all(self) -> Mapping[StageHour, LatencyHistogram]:
        """Return the pending counts, and reset them."""
        with self._lock:
            popped, self._histograms = self._histograms, {}
        return popped


pending = PendingLatencies()
os.register_at_fork(after_in_child=pending.reset)


@contextmanager
def counted_at(moment: datetime) -> Iterator[None]:
    """Count what this process measures in the block as of a moment, as a story is played."""
    clock = pending.clock
    pending.clock = moment.timestamp
    try:
        yield
    finally:
        pending.clock = clock


def write(worker: str) -> None:
    """Write the pending counts of a process, in one transaction per workspace.

    Counts of deleted workspaces, as evaluations leave them, are dropped.
    """
    by_workspace: dict[UUID, list[tuple[StageHour, LatencyHistogram]]] = defaultdict(list)
    for key, histogram in sorted(pending.pop_all().items(), key=lambda row: row[0]):
        by_workspace[key[0]].append((key, histogram))
    for workspace_id, rows in by_workspace.items():
        if not _exists(workspace_id):
            continue
        try:
            with in_workspace(workspace_id):
                _add_hours(rows)
                _add_tallies(rows, worker)
        except (Error, PoolTimeout) as error:
            if not isinstance(error, IntegrityError):  # the workspace was deleted just now
                log.warning("%d latencies were dropped: %s", len(rows), type(error).__name__)


def _exists(workspace_id: UUID) -> bool:
    """Return whether a workspace exists; True if this is not certain."""
    try:
        return Workspace.objects.filter(pk=workspace_id).exists()
    except (Error, PoolTimeout):
        return True


# In the order of their keys, so that two processes cannot deadlock.
_ADD_HOUR = f"""
    INSERT INTO {LatencyHour._meta.db_table} AS kept
        (workspace_id, stage, hour, counts, total_seconds)
    VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (workspace_id, stage, hour) DO UPDATE SET
        total_seconds = kept.total_seconds + excluded.total_seconds,
        counts = (
            SELECT array_agg(coalesce(a, 0) + coalesce(b, 0) ORDER BY position)
            FROM unnest(kept.counts, excluded.counts) WITH ORDINALITY AS paired(a, b, position)
        )
"""  # noqa: S608  names only
_ADD_TALLY = f"""
    INSERT INTO {WorkerTally._meta.db_table} AS kept
        (workspace_id, worker, stage, count, last_seconds, last_at)
    VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (workspace_id, worker, stage) DO UPDATE SET
        count = kept.count + excluded.count,
        last_seconds = excluded.last_seconds, last_at = excluded.last_at
"""  # noqa: S608


def _add_hours(rows: Iterable[tuple[StageHour, LatencyHistogram]]) -> None:
    with connection.cursor() as cursor:
        for (workspace_id, stage, hour), histogram in rows:
            at = datetime.fromtimestamp(hour * HOUR, UTC)
            cursor.execute(
                _ADD_HOUR,
                [workspace_id, stage, at, histogram.bucket_counts(), histogram.total_seconds],
            )


def _add_tallies(rows: Iterable[tuple[StageHour, LatencyHistogram]], worker: str) -> None:
    with connection.cursor() as cursor:
        for (workspace_id, stage, _), histogram in rows:
            at = datetime.fromtimestamp(histogram.last_at, UTC)
            count = sum(histogram.counts.values())
            cursor.execute(
                _ADD_TALLY, [workspace_id, worker, stage, count, histogram.last_seconds, at]
            )


@dataclass(frozen=True, slots=True)
class Latency:
    """The latency of one stage in a window; all None when it never ran."""

    stage: str
    count: int
    mean: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    last: float | None
    last_at: datetime | None


def read_latencies(stages: Iterable[str], *, since: datetime) -> dict[str, Latency]:
    """Return the latencies of the current workspace from the hour of `since` on."""
    hour = since.replace(minute=0, second=0, microsecond=0)
    histograms: dict[str, list[list[int]]] = defaultdict(list)
    seconds: dict[str, float] = defaultdict(float)
    kept = LatencyHour.objects.filter(hour__gte=hour)
    for stage, counts, total in kept.values_list("stage", "counts", "total_seconds"):
        histograms[stage].append(counts)
        seconds[stage] += total
    newest = WorkerTally.objects.filter(last_at__gte=hour).order_by("stage", "-last_at")
    last = {
        stage: (took, at)
        for stage, took, at in newest.distinct("stage").values_list(
            "stage", "last_seconds", "last_at"
        )
    }
    return {
        stage: _summarise(stage, add_histograms(histograms[stage]), seconds[stage], last.get(stage))
        for stage in dict.fromkeys([*stages, *sorted(histograms)])
    }


def read_hours(stage: str, *, since: datetime) -> dict[datetime, Sequence[int]]:
    """Return the histograms of one stage of the current workspace by hour, from `since` on."""
    kept = LatencyHour.objects.filter(stage=stage, hour__gte=since)
    return dict(kept.values_list("hour", "counts"))


def _summarise(
    stage: str, counts: Sequence[int], total: float, last: tuple[float, datetime] | None
) -> Latency:
    count = sum(counts)
    return Latency(
        stage=stage,
        count=count,
        mean=total / count if count else None,
        p50=percentile(counts, 0.5),
        p95=percentile(counts, 0.95),
        p99=percentile(counts, 0.99),
        last=last[0] if last else None,
        last_at=last[1] if last else None,
    )


def select_old_hours(now: datetime) -> QuerySet[LatencyHour]:
    """Return the latencies that no window reaches any more."""
    return LatencyHour.objects.filter(hour__lt=now - KEPT)


def select_old_tallies(now: datetime) -> QuerySet[WorkerTally]:
    """Return the tallies of processes that no window reaches any more."""
    return WorkerTally.objects.filter(last_at__lt=now - KEPT)


def drop_old(now: datetime) -> None:
    """Delete latencies of the current workspace older than 35 days."""
    select_old_hours(now).delete()
    select_old_tallies(now).delete()
