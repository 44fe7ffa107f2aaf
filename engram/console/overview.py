"""The figures of the dashboard, in a few queries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min
from django.db.models.functions import TruncHour
from django.utils import timezone

from conflicts.models import Awaits, DetectionRun
from conflicts.services.cards import queue
from conflicts.services.detection import backlog
from engram.kernel.models import Event
from memories.models import Memory

HOURS = 24
WIDTH, HEIGHT = 240, 56


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Commits per hour as an SVG path over the last day (width 240, height 56)."""

    counts: tuple[int, ...]
    line: str
    area: str

    @property
    def peak(self) -> int:
        """Return the largest number of commits in an hour."""
        return max(self.counts)


@dataclass(frozen=True, slots=True)
class Overview:
    """The figures of the dashboard."""

    memories: int
    open_conflicts: int
    resolved: int
    commits_today: int
    queue_depth: int
    queue_lag_seconds: float | None
    model_depth: int  # waiting for the language model
    last_run: DetectionRun | None
    sparkline: Sparkline
    is_empty: bool


def overview(now: datetime) -> Overview:
    """Return the figures of the current workspace."""
    hourly = _commits_by_hour(now)
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    due = backlog.select_due().aggregate(depth=Count("pk"), oldest=Min("since"))
    cards = queue.counts()
    memories = Memory.objects.recallable(now).count()
    return Overview(
        memories=memories,
        open_conflicts=cards["open"],
        resolved=cards["resolved"] + cards["dismissed"],
        commits_today=Event.objects.filter(type="memory.committed", at__gte=midnight).count(),
        queue_depth=due["depth"],
        queue_lag_seconds=(now - due["oldest"]).total_seconds() if due["oldest"] else None,
        model_depth=backlog.select_due(Awaits.ANSWERS, Awaits.MODEL).count(),
        last_run=DetectionRun.objects.first(),
        sparkline=sparkline(hourly),
        is_empty=not memories and not Memory.objects.exists(),
    )


def _commits_by_hour(now: datetime) -> list[int]:
    """Return the number of commits in each of the last 24 hours, oldest first."""
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    start = this_hour - timedelta(hours=HOURS - 1)
    rows = (
        Event.objects.filter(type="memory.committed", at__gte=start)
        .order_by()
        .annotate(hour=TruncHour("at", tzinfo=now.tzinfo))
        .values_list("hour")
        .annotate(n=Count("pk"))
    )
    found = dict(rows)
    return [found.get(start + timedelta(hours=step), 0) for step in range(HOURS)]


def sparkline(counts: list[int]) -> Sparkline:
    """Return counts as an SVG path from left to right, scaled to the largest."""
    peak = max(counts, default=0) or 1
    step = WIDTH / max(len(counts) - 1, 1)
    points = [
        (round(i * step, 1), round(HEIGHT - 3 - (HEIGHT - 6) * n / peak, 1))
        for i, n in enumerate(counts)
    ]
    line = "M" + "L".join(f"{x} {y}" for x, y in points)
    return Sparkline(tuple(counts), line, f"{line}L{WIDTH} {HEIGHT}L0 {HEIGHT}Z")
