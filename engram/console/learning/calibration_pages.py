"""The page of calibration: how far the judge agrees with people, and a new sample to rate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

import numpy as np
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from engram.console.inbox.calibration import BANDS
from engram.console.templatetags.detective import MonthShare
from engram.kernel.literals import moment
from engram.kernel.models import Role
from engram.kernel.pages import has_role, member_page, staff_of
from engram.kernel.refusals import RefusalError
from memories.models import Memory
from predictor.models import CalibrationItem, JudgeKind
from predictor.services.calibration import calibrate
from predictor.services.calibration.report import JudgeReport, calibration_of

SHOWN = 20
SIZES: Final = (calibrate.SAMPLE_MIN, calibrate.SAMPLE_SIZE, calibrate.SAMPLE_MAX)  # by hand
STEPS = [(place, *band[1:3]) for place, band in enumerate(BANDS.values(), 1)]


@dataclass(frozen=True, slots=True)
class ShownJudge:
    """One judge's agreement with people, and its months for the drawing."""

    name: str
    found: JudgeReport
    months: list[MonthShare]


@member_page()
def calibration(request: HttpRequest) -> HttpResponse:
    """Show the agreement; a POST draws a sample, also while another waits."""
    if request.method == "POST":
        return _draw(request)
    now = timezone.now()
    found = calibration_of(now=now)
    labelled = CalibrationItem.objects.exclude(labelled_at=None).filter(label__isnull=False)
    rows = list(labelled.select_related("session").order_by("-labelled_at", "pk")[:SHOWN])
    recallable = Memory.objects.recallable(now).filter(pk__in=[row.memory_id for row in rows])
    texts = dict(recallable.values_list("pk", "content"))
    return render(
        request,
        "console/learning/calibration.html",
        {
            "found": found,
            "judges": [_shown(one) for one in found.judges],
            "rows": [(row, texts.get(row.memory_id)) for row in rows],
            "steps": STEPS,
            "may_rate": has_role(request, Role.REVIEWER),
            "may_draw": bool(sizes := _sizes(found.waiting)),
            "sizes": sizes,
            "sample_size": calibrate.SAMPLE_SIZE,
            "most_waiting": calibrate.WAITING_MAX - SIZES[0],
        },
    )


def _sizes(waiting: int) -> list[int]:
    """Return how many may be drawn while so many wait."""
    return [size for size in SIZES if waiting + size <= calibrate.WAITING_MAX]


def _draw(request: HttpRequest) -> HttpResponse:
    staff = staff_of(request)
    if (size := request.POST.get("size", "")) not in map(str, SIZES):
        messages.warning(request, "Choose how many memories to draw.")
        return redirect("console:calibration")
    try:
        is_drawn = calibrate.sample(
            staff.workspace,
            int(size),
            rng=np.random.default_rng(),
            actor=staff.actor,
            now=timezone.now(),
            after=_moment_or_none(request.POST.get("after", "")),
        )
    except RefusalError as error:
        messages.warning(request, getattr(error, "message", error.detail))
    else:
        drawn = "A sample is drawn." if is_drawn else "Nothing more is drawn: a sample still waits."
        messages.success(request, f"{drawn} It waits in the inbox, under “Ratings”.")
    return redirect("console:calibration")


def _moment_or_none(text: str) -> datetime | None:
    try:
        return moment(text)
    except ValueError:
        return None


def _shown(judge: JudgeReport) -> ShownJudge:
    months = [
        MonthShare(date.fromisoformat(f"{month}-01"), report.agreement_interval, report.n)
        for month, report in judge.months
    ]
    return ShownJudge(JudgeKind(judge.kind).label, judge, months)
