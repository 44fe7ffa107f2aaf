"""Measure drift of the judge: mean relevance of young memories minus that of old ones, by week.

Young memories were observed less than 7 days before the session, old ones more than 30. A changing
difference indicates that the judge, or its input, has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Avg, Count, DurationField, ExpressionWrapper, F, Q

from predictor.models import JudgeKind, JudgeStatus, Label

YOUNG = timedelta(days=7)
OLD = timedelta(days=30)
WINDOW = timedelta(days=7)
WINDOWS = 12
# The least number of young and of old labels for a difference.
MIN_LABELS = 10
# Diagnostics report an absolute drift above it.
DRIFT_THRESHOLD = 0.3


@dataclass(frozen=True, slots=True)
class DriftWindow:
    """One window of sessions, by time of judging: mean relevances and numbers of labels."""

    since: datetime
    until: datetime
    young: float | None
    old: float | None
    young_count: int
    old_count: int

    @property
    def drift(self) -> float | None:
        """Return young minus old; None with fewer than `MIN_LABELS` labels of either."""
        if self.young is None or self.old is None:
            return None
        if min(self.young_count, self.old_count) < MIN_LABELS:
            return None
        return self.young - self.old


def judge_drift(now: datetime, *, windows: int = WINDOWS) -> list[DriftWindow]:
    """Return the last windows, oldest first, by one query; called inside the workspace."""
    ends = [now - WINDOW * n for n in range(windows)][::-1]
    spans = [(until - WINDOW, until) for until in ends]
    rows = _mean_of_age(spans[0][0], now).aggregate(**_measures(spans))
    return [
        DriftWindow(
            since=since,
            until=until,
            young=rows[f"young_{n}"],
            old=rows[f"old_{n}"],
            young_count=rows[f"young_count_{n}"],
            old_count=rows[f"old_count_{n}"],
        )
        for n, (since, until) in enumerate(spans)
    ]


def latest_drift(found: Sequence[DriftWindow]) -> float | None:
    """Return the drift of the newest window that has one."""
    return next((one.drift for one in reversed(found) if one.drift is not None), None)


def is_drifting(found: Sequence[DriftWindow]) -> bool:
    """Return whether the newest drift exceeds the threshold in either direction."""
    drift = latest_drift(found)
    return drift is not None and abs(drift) > DRIFT_THRESHOLD


def _mean_of_age(since: datetime, until: datetime):  # type: ignore[no-untyped-def]
    age = ExpressionWrapper(
        F("session__started_at") - F("memory__observed_at"), output_field=DurationField()
    )
    judged = Label.objects.filter(
        relevance__isnull=False,
        session__judgement__status=JudgeStatus.DONE,
        session__judgement__kind__in=[JudgeKind.MODEL, JudgeKind.OFFLINE],
        session__judgement__judged_at__gt=since,
        session__judgement__judged_at__lte=until,
    )
    return judged.annotate(age=age, at=F("session__judgement__judged_at"))


def _measures(spans: Sequence[tuple[datetime, datetime]]) -> dict[str, Avg | Count]:
    measures: dict[str, Avg | Count] = {}
    for n, (since, until) in enumerate(spans):
        within = Q(at__gt=since, at__lte=until)
        for name, aged in (("young", Q(age__lt=YOUNG)), ("old", Q(age__gt=OLD))):
            measures[f"{name}_{n}"] = Avg("relevance", filter=within & aged)
            measures[f"{name}_count_{n}"] = Count("pk", filter=within & aged)
    return measures
