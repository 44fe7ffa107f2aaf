"""The detective's page: what became of its questions, what its runs did, what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from conflicts.models import DetectionRun
from conflicts.services import quality, run_figures
from engram.kernel import llm
from engram.kernel.models import Role, Workspace
from engram.kernel.pages import has_role, member_page, staff_of

RUN_DAYS = 30
PERIODS = {"30": "30 days", "90": "90 days", "365": "a year", "all": "all time"}
DEFAULT_PERIOD = "365"


@dataclass(frozen=True, slots=True)
class Tier:
    """Whether a language model reads the story too, and if not, why."""

    state: str  # on, capped, off: setting, off: no model
    model: str
    spent_usd: float
    cap_usd: float

    @property
    def share_spent(self) -> float:
        """Return how much of the day's cap is spent, 0..1."""
        return min(self.spent_usd / self.cap_usd, 1.0) if self.cap_usd else 1.0


def tier_of(workspace: Workspace, spent_usd: float) -> Tier:
    """Return the state of the narrative tier."""
    config, model = workspace.config, llm.model_name()
    if not model:
        state = "no model"
    elif not (config.narrative_enabled and config.detection_enabled):
        state = "setting"
    else:
        state = "capped" if spent_usd >= config.narrative_daily_usd else "on"
    return Tier(state, model, spent_usd, config.narrative_daily_usd)


@require_safe
@member_page()
def detective(request: HttpRequest) -> HttpResponse:
    """Show how good the detective is, and its runs."""
    now = timezone.now()
    period = request.GET.get("days", DEFAULT_PERIOD)
    period = period if period in PERIODS else DEFAULT_PERIOD
    found = quality.measure(since=_since(period, now), until=now)
    runs = run_figures.figures(since=now - timedelta(days=RUN_DAYS), now=now)
    page = run_figures.page(before=request.GET.get("before", ""))
    workspace = staff_of(request).workspace
    return render(
        request,
        "console/detective.html",
        {
            "quality": found,
            "kinds": [(name.title(), one) for name, one in found.kinds.items()],
            "detectors": [(name, one) for name, one in found.detectors.items()],
            "period": period,
            "periods": PERIODS,
            "runs": runs,
            "run_days": RUN_DAYS,
            "page": page,
            "is_first_page": not request.GET.get("before"),
            "rows": [_row(run) for run in page.rows],
            "tier": tier_of(workspace, runs.spent_today_usd),
            "is_detecting": workspace.config.detection_enabled,
            "may_change": has_role(request, Role.ADMIN),
            "may_replay": has_role(request, Role.REVIEWER),
            "workspace": workspace,
        },
    )


def _since(period: str, now: datetime) -> datetime | None:
    return None if period == "all" else now - timedelta(days=int(period))


def _row(run: DetectionRun) -> dict[str, Any]:
    tone = {"failed": "bad", "done": "good"}.get(run.status, "accent")
    return {"run": run, "tone": tone, "told": [part for part in _told(run) if part]}


def _told(run: DetectionRun) -> list[str]:
    """Say what a run did beyond reading, in short phrases."""
    return [
        f"{run.opened} opened" if run.opened else "",
        f"{run.joined} grew" if run.joined else "",
        f"{run.skipped} known" if run.skipped else "",
    ]
