"""Metrics of the gate: merge and duplicate counts, redundancy, noise, false-merge rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np
from django.db.models import Count, Q
from django.db.models.functions import TruncWeek

from memories.core.metrics import Interval, bootstrap_ratio, wilson
from memories.models import (
    Merge,
    MergeSuggestion,
    Observation,
    RecallDay,
    SuggestionStatus,
)
from memories.services.gate.suggestions import in_status

WEEK = timedelta(weeks=1)
LEAST_DAYS = 7
SEED = 7  # of the bootstrap: the same rows give the same interval


@dataclass(frozen=True, slots=True)
class Week:
    """The counts of commits and recalls in one week (from Monday, UTC)."""

    start: date
    commits: int = 0
    triggered: int = 0
    merged: int = 0
    kept_apart: int = 0
    suggested: int = 0
    duplicates: int = 0
    redundant: int = 0
    returned: int = 0
    noise: int = 0


@dataclass(frozen=True, slots=True)
class GateMetrics:
    """The gate's counts and rates between `since` and `until`."""

    since: datetime
    until: datetime
    commits: int
    trigger_rate: Interval
    merged: int
    kept_apart: int
    suggested: int
    duplicates: int
    splits: int
    suggestions_open: int
    suggestions_accepted: int
    suggestions_rejected: int
    redundant_a_week: float
    noise_share: Interval
    false_merge_rate: Interval
    judged_wrong: int
    weeks: tuple[Week, ...]


def measure_gate(*, since: datetime, now: datetime) -> GateMetrics:
    """Return the metrics of the current workspace.

    A commit is *triggered* when a live neighbour was near enough to be compared. A new memory is
    *redundant* when the gate found a probable duplicate and no person rejected it. The false-merge
    rate is the share of wrong or split merges among those of the gate that were judged or split.
    """
    commits = _commits(since)
    redundant = _redundant(since)
    recalls = list(RecallDay.objects.filter(day__gte=since.astimezone(UTC).date()).order_by("day"))
    weeks = _weeks(since, now, commits, redundant, recalls)
    totals = {name: sum(getattr(week, name) for week in weeks) for name in _SUMMED}
    # What a person merged by accepting a suggestion says nothing about the gate.
    of_gate = Q(absorbed=None) | ~Q(observation__outcome="absorbed")
    merges = Merge.objects.filter(of_gate, created_at__gte=since).aggregate(
        splits=Count("pk", filter=~Q(split_at=None)),
        judged=Count("pk", filter=~Q(is_correct=None) | ~Q(split_at=None)),
        wrong=Count("pk", filter=Q(is_correct=False) | ~Q(split_at=None)),
    )
    answers = MergeSuggestion.objects.filter(decided_at__gte=since).exclude(detected_by="split")
    return GateMetrics(
        since=since,
        until=now,
        trigger_rate=wilson(totals["triggered"], totals["commits"]),
        commits=totals["commits"],
        merged=totals["merged"],
        kept_apart=totals["kept_apart"],
        suggested=totals["suggested"],
        duplicates=totals["duplicates"],
        splits=merges["splits"],
        suggestions_open=in_status(SuggestionStatus.OPEN, now).count(),
        suggestions_accepted=answers.filter(status=SuggestionStatus.ACCEPTED).count(),
        suggestions_rejected=answers.filter(status=SuggestionStatus.REJECTED).count(),
        redundant_a_week=totals["redundant"] / max((now - since) / WEEK, 1.0),
        noise_share=_noise(recalls),
        false_merge_rate=wilson(merges["wrong"], merges["judged"]),
        judged_wrong=merges["wrong"],
        weeks=weeks,
    )


_SUMMED = (
    "commits", "triggered", "merged", "kept_apart", "suggested", "duplicates", "redundant",
)  # fmt: skip


def _commits(since: datetime) -> dict[date, Counter[str]]:
    """Count commits by week and outcome, and those that the gate compared.

    Merges with `absorbed` came from an accepted suggestion, not from a commit.
    """
    rows = (
        Observation.objects.filter(created_at__gte=since)
        .exclude(outcome="absorbed")
        .order_by()
        .annotate(week=TruncWeek("created_at", tzinfo=UTC))
        .values("week", "outcome")
        .annotate(n=Count("pk"), triggered=Count("pk", filter=Q(gate__triggered=True)))
    )
    counts: dict[date, Counter[str]] = {}
    for row in rows:
        week = counts.setdefault(row["week"].date(), Counter())
        week[row["outcome"]] += row["n"]
        week["commits"] += row["n"]
        week["triggered"] += row["triggered"]
    return counts


def _redundant(since: datetime) -> Counter[date]:
    """Count by week the redundant new memories."""
    rows = (
        MergeSuggestion.objects.filter(created_at__gte=since, detected_by="gate")
        .exclude(status__in=[SuggestionStatus.REJECTED, SuggestionStatus.LAPSED])
        .order_by()
        .annotate(week=TruncWeek("created_at", tzinfo=UTC))
        .values("week")
        .annotate(n=Count("pk"))
    )
    return Counter({row["week"].date(): row["n"] for row in rows})


def _weeks(
    since: datetime,
    now: datetime,
    commits: dict[date, Counter[str]],
    redundant: Counter[date],
    recalls: Iterable[RecallDay],
) -> tuple[Week, ...]:
    returned: Counter[date] = Counter()
    noise: Counter[date] = Counter()
    for row in recalls:
        returned[_monday(row.day)] += row.returned
        noise[_monday(row.day)] += row.noise
    weeks = []
    start = _monday(since.astimezone(UTC).date())
    while start <= now.astimezone(UTC).date():
        counted = commits.get(start, Counter())
        weeks.append(
            Week(
                start=start,
                commits=counted["commits"],
                triggered=counted["triggered"],
                merged=counted["merged"],
                kept_apart=counted["kept_apart"],
                suggested=counted["suggested"],
                duplicates=counted["duplicate"],
                redundant=redundant[start],
                returned=returned[start],
                noise=noise[start],
            )
        )
        start += WEEK
    return tuple(weeks)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _noise(recalls: Iterable[RecallDay]) -> Interval:
    """Return the share of returned memories below the noise score, with a bootstrap by day.

    With few days each memory counts as independent instead.
    """
    rows = [row for row in recalls if row.returned]
    if len(rows) < LEAST_DAYS:
        return wilson(sum(row.noise for row in rows), sum(row.returned for row in rows))
    return bootstrap_ratio(
        [row.noise for row in rows],
        [row.returned for row in rows],
        rng=np.random.default_rng(SEED),
    )
