"""The detective's page: quality of its cards, runs and costs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from conflicts.core.muting import meaning_of
from conflicts.core.rules.registry import rule_of
from conflicts.models import DetectionRun
from conflicts.services.detection import quality
from conflicts.services.detection.narrative import narrative_state
from conflicts.services.detection.runs import summarise_runs
from conflicts.services.muting import answer
from conflicts.services.reports.records import AgentRecord, agent_records
from engram.console.inbox.queue import tallies_for
from engram.kernel.models import Role, Workspace
from engram.kernel.pages import has_role, member_page, staff_of
from engram.kernel.pagination import page_of
from engram.kernel.refusals import RefusalError

RUN_DAYS = 30
RUNS_A_PAGE = 25
PERIODS = {"30": "30 days", "90": "90 days", "365": "a year", "all": "all time"}
DEFAULT_PERIOD = "365"
_ODD = ("failed", "capped")  # what became of a language model's reading


@require_safe
@member_page()
def detective(request: HttpRequest) -> HttpResponse:
    """Show the quality of the detective, and its runs."""
    now = timezone.now()
    workspace = staff_of(request).workspace
    period = request.GET.get("days", DEFAULT_PERIOD)
    period = period if period in PERIODS else DEFAULT_PERIOD
    found = quality.measure(since=_since(period, now), until=now)
    runs = summarise_runs(since=now - timedelta(days=RUN_DAYS), now=now)
    page = page_of(DetectionRun.objects.all(), request, size=RUNS_A_PAGE)
    tier = narrative_state(workspace, now=now)
    tallies = tallies_for(request)
    return render(
        request,
        "console/detective.html",
        {
            "quality": found,
            "kinds": [(name, one, "") for name, one in found.kinds.items()],
            "detectors": [(name, one, "") for name, one in found.detectors.items()],
            "rules": [(name, one, rule_of(name).meaning) for name, one in found.rules.items()],
            "agents": _agents(found, workspace),
            "muted": [(name, meaning_of(name)) for name in workspace.config.muted_rules],
            "proposed": tallies["mutings"].count if "mutings" in tallies else 0,
            "waiting": tallies["conflicts"].count,
            "period": period,
            "periods": PERIODS,
            "runs": runs,
            "run_days": RUN_DAYS,
            "page": page,
            "rows": [_row(run) for run in page.rows],
            "alike": _alike(page.rows),
            "tier": tier,
            "is_capped": tier.is_on and tier.spent_usd >= tier.cap_usd,
            "share_spent": min(tier.spent_usd / tier.cap_usd, 1.0) if tier.cap_usd else 1.0,
            "is_detecting": workspace.config.detection_enabled,
            "may_change": has_role(request, Role.ADMIN),
            "may_replay": has_role(request, Role.REVIEWER),
            "workspace": workspace,
        },
    )


@member_page()
def unmute(request: HttpRequest) -> HttpResponse:
    """Let a muted rule or tier find again."""
    if request.method == "POST":
        staff = staff_of(request)
        rule = request.POST.get("rule", "")
        try:
            answer.unmute(staff.workspace, rule, actor=staff.actor, now=timezone.now())
            messages.success(request, "It finds again, in what is read from now on.")
        except RefusalError as error:
            messages.warning(request, getattr(error, "message", error.detail))
    return redirect("console:detective")


def _since(period: str, now: datetime) -> datetime | None:
    return None if period == "all" else now - timedelta(days=int(period))


def _agents(
    found: quality.Quality, workspace: Workspace
) -> list[tuple[str, quality.VerdictCounts, str]]:
    """Return the agents with the verdicts of the period, and their record in words."""
    records = {one.agent: one for one in agent_records(workspace)}
    nothing = quality.count_verdicts({})
    names = dict.fromkeys([*found.agents, *records])
    return [
        (name, found.agents.get(name, nothing), _record_words(records.get(name))) for name in names
    ]


def _record_words(record: AgentRecord | None) -> str:
    if record is None:
        return "reported by hand"
    kept = f", {record.kept} kept without a card" if record.kept else ""
    return f"{record.judged} pairs judged{kept}; its word weighs {record.record.weight:.2f}"


def _alike(rows: Sequence[DetectionRun]) -> dict[str, str]:
    """Return what all runs of a page have alike, which needs no column."""
    alike = {}
    if all(run.status == "done" and not run.error and run.narrative not in _ODD for run in rows):
        alike["state"] = "done"
    if not any(run.model for run in rows):
        alike["readers"] = "rules only"
    return alike


def _row(run: DetectionRun) -> dict[str, Any]:
    tone = {"failed": "bad", "done": "good"}.get(run.status, "accent")
    return {"run": run, "tone": tone, "counts": [part for part in _describe_run(run) if part]}


def _describe_run(run: DetectionRun) -> list[str]:
    """Return short phrases about what a run did besides reading."""
    return [
        f"{run.opened} opened" if run.opened else "",
        f"{run.joined} grew" if run.joined else "",
        f"{run.skipped} known already" if run.skipped else "",
        f"{run.left_unread} too long for the rules, left unread" if run.left_unread else "",
    ]
