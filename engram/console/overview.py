"""The figures of the home page, in a constant number of queries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Count, Max, Min, Sum
from django.db.models.functions import TruncHour
from django.utils import timezone

from conflicts.models import Awaits, DetectionRun
from conflicts.services.cards import queue
from conflicts.services.detection import backlog
from conflicts.services.detection.runs import summarise_runs
from engram.console.sparklines import Sparkline, sparkline
from engram.kernel.models import Event, Workspace
from memories.models import Memory, RecallDay, RecallRecord
from predictor.services.status.progress import TrainingProgress, training_progress

HOURS = 24
RECALL_DAYS = 14


@dataclass(frozen=True, slots=True)
class Recalls:
    """The recalls of today and of the days before it (UTC), as they are counted."""

    today: int
    sparkline: Sparkline


@dataclass(frozen=True, slots=True)
class Detection:
    """Detection over a day: what waits, how long memories waited, and what was read by hour."""

    depth: int
    waits_seconds: float | None  # of the oldest that waits; None when nothing does
    model_depth: int  # waiting for the language model
    lag_median: float | None
    lag_p95: float | None
    last_run: DetectionRun | None
    read: Sparkline
    lag: Sparkline


@dataclass(frozen=True, slots=True)
class Overview:
    """The figures of the home page at a moment."""

    at: datetime
    memories: int
    open_conflicts: int
    resolved: int
    commits_today: int
    commits: Sparkline
    recalls: Recalls
    detection: Detection
    training: TrainingProgress
    is_empty: bool


def overview(workspace: Workspace, now: datetime) -> Overview:
    """Return the figures of the current workspace."""
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    cards = queue.counts()
    memories = Memory.objects.recallable(now).count()
    return Overview(
        at=now,
        memories=memories,
        open_conflicts=cards["open"],
        resolved=cards["resolved"] + cards["dismissed"],
        commits_today=Event.objects.filter(type="memory.committed", at__gte=midnight).count(),
        commits=sparkline(_commits_by_hour(now)),
        recalls=_recalls(now),
        detection=_detection(now),
        training=training_progress(workspace, now=now),
        is_empty=not memories and not Memory.objects.exists(),
    )


def _hours(now: datetime) -> list[datetime]:
    """Return the beginnings of the last 24 hours, oldest first."""
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    return [this_hour - timedelta(hours=HOURS - 1 - step) for step in range(HOURS)]


def _commits_by_hour(now: datetime) -> list[int]:
    hours = _hours(now)
    rows = (
        Event.objects.filter(type="memory.committed", at__gte=hours[0])
        .order_by()
        .annotate(hour=TruncHour("at", tzinfo=now.tzinfo))
        .values_list("hour")
        .annotate(n=Count("pk"))
    )
    found = dict(rows)
    return [found.get(hour, 0) for hour in hours]


def _recalls(now: datetime) -> Recalls:
    """Read the counted recalls; those of the last seconds are not counted yet."""
    today = now.astimezone(UTC).date()
    days = [today - timedelta(days=RECALL_DAYS - 1 - step) for step in range(RECALL_DAYS)]
    counted = dict(RecallDay.objects.filter(day__gte=days[0]).values_list("day", "recalls"))
    begins = datetime(today.year, today.month, today.day, tzinfo=UTC)
    uncounted = RecallRecord.objects.filter(at__gte=begins, is_counted=True).count()
    by_day = [counted.get(day, 0) for day in days]
    by_day[-1] += uncounted
    return Recalls(by_day[-1], sparkline(by_day))


def _detection(now: datetime) -> Detection:
    hours = _hours(now)
    due = backlog.select_due().aggregate(depth=Count("pk"), oldest=Min("since"))
    runs = {
        hour: (read, lag)
        for hour, read, lag in DetectionRun.objects.filter(created_at__gte=hours[0])
        .order_by()
        .annotate(hour=TruncHour("created_at", tzinfo=now.tzinfo))
        .values_list("hour")
        .annotate(read=Sum("trigger_count"), lag=Max("lag_seconds"))
    }
    day = summarise_runs(since=hours[0], now=now)
    return Detection(
        depth=due["depth"],
        waits_seconds=(now - due["oldest"]).total_seconds() if due["oldest"] else None,
        model_depth=backlog.select_due(Awaits.ANSWERS, Awaits.MODEL).count(),
        lag_median=day.lag_median,
        lag_p95=day.lag_p95,
        last_run=DetectionRun.objects.first(),
        read=sparkline([runs[hour][0] if hour in runs else 0 for hour in hours]),
        lag=sparkline([runs[hour][1] if hour in runs else None for hour in hours]),
    )
