"""Aggregate detection runs: counts, cost and lag; find the conflicts that one opened."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import connection
from django.db.models import Q, QuerySet

from conflicts.models import Conflict, DetectionDue, DetectionRun
from engram.kernel.models import ModelSpend
from engram.kernel.tenancy import current_workspace_id


@dataclass(frozen=True, slots=True)
class RunFigures:
    """Figures of the runs since a moment, and today's model cost (UTC)."""

    runs: int
    failed: int
    tokens: int
    cost_usd: float
    lag_median: float | None
    lag_p95: float | None
    spent_today_usd: float
    calls_today: int
    due: int  # memories that wait to be read now


def opened_by(run: DetectionRun) -> QuerySet[Conflict]:
    """Return the conflicts that a run opened, as far as they are kept: it gave them its own time.

    Those that people and agents report are not the detective's, whenever they come.
    """
    by_itself = Q(detected_by__0="rules") | Q(detected_by__0="narrative")
    return Conflict.objects.filter(by_itself, created_at=run.created_at)


def summarise_runs(*, since: datetime, now: datetime) -> RunFigures:
    """Return the figures of the current workspace's runs."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT count(*), count(*) FILTER (WHERE status = 'failed'),
                coalesce(sum(tokens), 0), coalesce(sum(cost_usd), 0),
                percentile_cont(0.5) WITHIN GROUP (ORDER BY lag_seconds),
                percentile_cont(0.95) WITHIN GROUP (ORDER BY lag_seconds)
            FROM conflicts_detectionrun WHERE workspace_id = %s AND created_at >= %s
            """,
            [current_workspace_id(), since],
        )
        runs, failed, tokens, cost, median, p95 = cursor.fetchone()
    today = ModelSpend.objects.filter(day=now.astimezone(UTC).date()).first()
    return RunFigures(
        runs=runs,
        failed=failed,
        tokens=int(tokens),
        cost_usd=float(cost),
        lag_median=median,
        lag_p95=p95,
        spent_today_usd=today.cost_usd if today else 0.0,
        calls_today=today.calls if today else 0,
        due=DetectionDue.objects.count(),
    )
