"""Gather what the overview of learning shows, in a constant number of queries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from engram.console.diagnostics import predictor as health
from engram.console.diagnostics.domain import Domain
from engram.console.sparklines import Sparkline, sparkline
from engram.kernel import latency
from engram.kernel.models import StageError, Workspace
from memories.services.sessions.ranker_hook import STAGE
from predictor.core.metrics import Interval, wilson
from predictor.models import Comparison, ComparisonOutcome, Training
from predictor.services.status.drafted_lists import of_sessions
from predictor.services.status.progress import TrainingProgress, training_progress
from predictor.services.status.scoreboard import Scoreboard
from predictor.services.status.shown_scoreboard import shown_scoreboard
from predictor.services.status.status import PredictorStatus, read_status
from predictor.services.status.unused import Usage, usage_of_sessions

TIMELINE = 100  # comparisons drawn
TRAININGS = 40
ERRORS = 8
HOURS = 24
NEAR_TIMEOUT = 0.8  # of the timeout: the line is marked
ERROR_STAGES: Final = ("predictor_score", "predictor_train", "judge")
TIMEOUT = "predictor_timeout"


@dataclass(frozen=True, slots=True)
class Timeline:
    """The newest comparisons, oldest first, and the learned ranking's share of those decided."""

    rows: list[Comparison]
    wins: int
    losses: int
    ties: int
    void: int
    won: Interval  # wins of wins and losses

    @property
    def newest_first(self) -> list[Comparison]:
        """Return the comparisons, newest first."""
        return self.rows[::-1]


@dataclass(frozen=True, slots=True)
class Speed:
    """The p95 of scoring by hour over a day, in milliseconds, and how it stands to the timeout."""

    sparkline: Sparkline
    p50_ms: float | None
    p95_ms: float | None
    timeout_ms: int
    timeouts: int

    @property
    def tone(self) -> str:
        """Return `bad` after timeouts, `warn` near the timeout, else ""."""
        if self.timeouts:
            return "bad"
        return "warn" if self.sparkline.peak > NEAR_TIMEOUT * self.timeout_ms else ""


@dataclass(frozen=True, slots=True)
class Learning:
    """All that the overview shows."""

    at: datetime
    status: PredictorStatus
    headline: str
    progress: TrainingProgress
    board: Scoreboard
    usage: Usage
    timeline: Timeline
    trainings: list[Training]  # oldest first
    speed: Speed
    health: Domain
    errors: list[StageError]

    @property
    def model_share(self) -> float:
        """Return the learned ranking's weight in the next session, in [0, 1]."""
        return 1 - self.status.alpha_served

    @property
    def newest_trainings(self) -> list[Training]:
        """Return the trainings, newest first."""
        return self.trainings[::-1]

    @property
    def judged_sessions(self) -> int:
        """Return how many sessions were judged, also those whose ratings say nothing."""
        return sum(one.sessions for one in self.status.judged_by)

    @property
    def is_empty(self) -> bool:
        """Return whether no session has ended yet."""
        return not self.usage.sessions and not self.timeline.rows


def learning(workspace: Workspace, now: datetime) -> Learning:
    """Return the overview of the current workspace."""
    status = read_status(workspace, now=now)
    errors = StageError.objects.filter(stage__in=ERROR_STAGES)
    trainings = Training.objects.defer("trained_session_ids").order_by("-started_at", "-id")
    return Learning(
        at=now,
        status=status,
        headline=_headline(status),
        progress=training_progress(workspace, now=now),
        board=shown_scoreboard(),
        usage=usage_of_sessions(),
        timeline=_timeline(),
        trainings=list(trainings[:TRAININGS])[::-1],
        speed=_speed(status.config.score_timeout_ms, now),
        health=health.predictor(workspace, now=now, drafted=status.drafted_lists),
        errors=list(errors[:ERRORS]),
    )


def _headline(status: PredictorStatus) -> str:
    """Return in one sentence who ranks now."""
    if status.config.predictor_mode == "off":
        return "The baseline ranks alone: learning is switched off."
    if status.alpha_served < 1:
        return "The learned ranking and the baseline rank the next session together."
    is_collecting = status.config.predictor_mode == "collect"
    if status.model is not None and status.drafted_lists.draft_share > 0:
        learns = "learns only" if is_collecting else "has no say of its own"
        share = of_sessions(status.drafted_lists.draft_share)
        return f"The learned ranking {learns}: to be compared, both choose in turn in {share}."
    return "The baseline ranks alone."


def _timeline() -> Timeline:
    newest = Comparison.objects.select_related("session").only(
        "outcome", "void_reason", "margin", "predictor_ndcg", "baseline_ndcg", "success_rate",
        "alpha", "model_version", "is_drift_reset", "judge_confidence", "created_at",
        "session__session_key",
    )  # fmt: skip
    rows = list(newest.order_by("-created_at", "-id")[:TIMELINE])[::-1]
    counts = {outcome: sum(row.outcome == outcome for row in rows) for outcome in ComparisonOutcome}
    wins, losses = counts[ComparisonOutcome.WIN], counts[ComparisonOutcome.LOSS]
    ties, void = counts[ComparisonOutcome.TIE], counts[ComparisonOutcome.VOID]
    return Timeline(rows, wins, losses, ties, void, wilson(wins, wins + losses))


def _speed(timeout_ms: int, now: datetime) -> Speed:
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    hours = [this_hour - timedelta(hours=HOURS - 1 - step) for step in range(HOURS)]
    found: dict[datetime, Any] = latency.read_hours(STAGE, since=hours[0])
    day = latency.add_histograms(found.values())
    timeouts = StageError.objects.filter(code=TIMEOUT, at__gte=hours[0]).count()
    return Speed(
        sparkline([_ms(latency.percentile(found[h], 0.95)) if h in found else None for h in hours]),
        _ms(latency.percentile(day, 0.5)),
        _ms(latency.percentile(day, 0.95)),
        timeout_ms,
        timeouts,
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000
