"""Metrics for Prometheus of the whole installation, without workspaces, keys or texts.

They are read from the rows that every process writes about itself (`engram.kernel.heartbeat`), so
that any web process can answer for all, on every machine; they are at most five seconds old. The
process is a label: its counters start at 0 with it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.db.models import Count, Min
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from conflicts.models import DetectionLease, NarrativeLease
from engram.console.health import readiness
from engram.console.webhooks import sending
from engram.kernel import heartbeat, latency
from engram.kernel.broker import client
from engram.kernel.due import waiting_since
from engram.kernel.models import WorkerPulse, Workspace
from predictor.models import TrainingLease
from predictor.services.judging import due as judging_due

# Upper bounds in seconds; finer buckets are added by their middle, with an error of at most 5 %.
BOUNDS: Final = (
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
)  # fmt: skip


def exposition(now: datetime) -> bytes:
    """Return all metrics in Prometheus's text format."""
    registry = CollectorRegistry()
    registry.register(Figures(now))
    return generate_latest(registry)


class Figures(Collector):
    """Collects the current metrics."""

    def __init__(self, now: datetime):
        self._now = now

    def collect(self) -> Iterator[Metric]:
        """Yield all metric families."""
        rows = heartbeat.recent_processes(self._now)
        yield from _processes(rows, self._now)
        yield from _work(rows)
        yield _stages(rows)
        yield from _waiting_metrics(self._now)
        yield _ready()


def _processes(rows: list[WorkerPulse], now: datetime) -> Iterator[Metric]:
    labels = ["process", "kind"]
    up = GaugeMetricFamily("engram_process_up", "Heard of within the last minute.", labels=labels)
    busy = GaugeMetricFamily("engram_process_busy", "At work on a task.", labels=labels)
    started = GaugeMetricFamily(
        "engram_process_start_time_seconds", "When it began, since the epoch.", labels=labels
    )
    silent = GaugeMetricFamily(
        "engram_process_silent_seconds", "Since it was heard of.", labels=labels
    )
    for row in rows:
        who = [row.name, heartbeat.kind_of(row)]
        up.add_metric(who, 1)
        busy.add_metric(who, int(row.is_busy))
        started.add_metric(who, row.started_at.timestamp())
        silent.add_metric(who, max((now - row.beat_at).total_seconds(), 0.0))
    yield from (up, busy, started, silent)


def _work(rows: list[WorkerPulse]) -> Iterator[Metric]:
    tasks = CounterMetricFamily(
        "engram_tasks", "Tasks that ended.", labels=["process", "task", "outcome"]
    )
    errors = CounterMetricFamily(
        "engram_stage_errors", "Failures of stages.", labels=["process", "stage", "code"]
    )
    requests = CounterMetricFamily(
        "engram_http_requests", "Requests answered.", labels=["process", "method", "status"]
    )
    for row in rows:
        for task, outcomes in row.counts.get("tasks", {}).items():
            for outcome, count in outcomes.items():
                tasks.add_metric([row.name, task, outcome], count)
        for name, count in row.counts.get("errors", {}).items():
            stage, _, code = name.partition(" ")
            errors.add_metric([row.name, stage, code], count)
        for name, count in row.counts.get("requests", {}).items():
            method, _, status = name.partition(" ")
            requests.add_metric([row.name, method, status], count)
    yield from (tasks, errors, requests)


def _stages(rows: list[WorkerPulse]) -> Metric:
    found = HistogramMetricFamily(
        "engram_stage_seconds", "How long stages take.", labels=["process", "stage"]
    )
    for row in rows:
        for stage, ran in row.counts.get("stages", {}).items():
            found.add_metric([row.name, stage], _cumulate(ran["buckets"]), ran["seconds"])
    return found


def _cumulate(buckets: Mapping[str, int]) -> list[tuple[str, float]]:
    """Return Prometheus's cumulative buckets of a histogram."""
    counts = [0] * (len(BOUNDS) + 1)
    for bucket, count in buckets.items():
        counts[bisect_left(BOUNDS, latency.seconds_of(int(bucket)))] += count
    total, cumulative = 0, []
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
        total += count
        cumulative.append((bound, float(total)))
    return cumulative


def _waiting_metrics(now: datetime) -> Iterator[Metric]:
    workspaces = GaugeMetricFamily(
        "engram_due_workspaces", "Workspaces with something to be done.", labels=["queue"]
    )
    oldest = GaugeMetricFamily(
        "engram_due_oldest_seconds", "How long the first of them has waited.", labels=["queue"]
    )
    webhooks = waiting_since(lambda: sending.select_due(now), "due_at")
    queues = (*_detection_queues(now), *_training_queues(now))
    of_webhooks = ("webhooks", len(webhooks), min(webhooks.values(), default=None))
    for name, count, since in (*queues, of_webhooks):
        workspaces.add_metric([name], count)
        oldest.add_metric([name], (now - since).total_seconds() if since else 0.0)
    yield from (workspaces, oldest)
    if settings.CELERY_BROKER_URL.startswith(("redis", "unix")):
        lengths = GaugeMetricFamily(
            "engram_broker_queue_length", "Wake-ups that no worker has taken.", labels=["queue"]
        )
        try:
            for queue in settings.CELERY_TASK_QUEUES:
                lengths.add_metric([queue], float(client().llen(queue)))
        except (RedisError, OSError):
            return  # `engram_ready` says so
        yield lengths


def _detection_queues(now: datetime) -> Iterator[tuple[str, int, datetime | None]]:
    """Yield the detective's queues: name, number of workspaces, longest waiting time."""
    for name, lease in (("detection", DetectionLease), ("narrative", NarrativeLease)):
        due = lease._default_manager.filter(due_at__lte=now)
        found: dict[str, Any] = due.aggregate(n=Count("pk"), since=Min("due_at"))
        yield name, found["n"], found["since"]


def _training_queues(now: datetime) -> Iterator[tuple[str, int, datetime | None]]:
    """Yield the predictor's queues, without workspaces where it is switched off."""
    due = TrainingLease.objects.filter(due_at__lte=now)
    queues = {
        "judging": waiting_since(judging_due.select_due, "due_at"),
        "training": {lease.workspace_id: lease.due_at for lease in due if lease.due_at},
    }
    for name, waiting in queues.items():
        found = [
            waiting[workspace.pk]
            for workspace in Workspace.objects.filter(pk__in=waiting)
            if workspace.config.predictor_mode != "off" and waiting[workspace.pk] <= now
        ]
        yield name, len(found), min(found, default=None)


def _ready() -> Metric:
    ready = GaugeMetricFamily(
        "engram_ready", "Whether what a request needs is there.", labels=["check"]
    )
    for check in readiness():
        ready.add_metric([check["name"]], int(check["ok"]))
    return ready
