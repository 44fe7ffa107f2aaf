"""The overview of learning, and the change of its mode."""

from __future__ import annotations

from typing import Final, get_args

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from engram.console.learning.overview import learning
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.models import Role
from engram.kernel.pages import has_role, member_page, staff_of
from engram.kernel.services import change_settings
from predictor.services.status.status import read_status

RECENT = 8
# What pages call each mode, the button that changes to it, and what that means.
MODES: Final = {
    "off": (
        "switched off",
        "Switch off",
        "Sessions are no longer judged, nothing is learned, and the baseline ranks alone. Sessions"
        " that wait for the judge are dropped; what was learned and the comparisons are kept.",
    ),
    "collect": (
        "learns only",
        "Learn only",
        "Sessions are judged, and the learned ranking is trained and compared. The baseline ranks"
        " alone, but for lists that both choose in turn, by coin, so that they can be compared.",
    ),
    "on": (
        "switched on",
        "Switch on",
        "The learned ranking gets a say in what sessions are given as soon as its comparisons earn"
        " it, and only as much as they earn; it loses it again when it becomes worse.",
    ),
}
assert set(MODES) == set(get_args(WorkspaceSettings.model_fields["predictor_mode"].annotation))  # noqa: S101


@require_safe
@member_page()
def overview(request: HttpRequest) -> HttpResponse:
    """Show how the learned ranking stands, in any mode."""
    now = timezone.now()
    found = learning(staff_of(request).workspace, now)
    return render(
        request,
        "console/learning/overview.html",
        {
            "found": found,
            "status": found.status,
            "mode": found.status.config.predictor_mode,
            "mode_name": MODES[found.status.config.predictor_mode][0],
            "recent": found.timeline.rows[: -RECENT - 1 : -1],
            "may_change": has_role(request, Role.ADMIN),
            "sees_details": has_role(request, Role.ADMIN),
        },
    )


@member_page(reads=Role.ADMIN, writes=Role.ADMIN)
def mode(request: HttpRequest) -> HttpResponse:
    """Ask whether to change the mode; a POST changes it."""
    staff, now = staff_of(request), timezone.now()
    sent = request.POST if request.method == "POST" else request.GET
    wanted = sent.get("to", "")
    if request.method == "POST" and wanted in MODES:
        change_settings(staff.workspace, {"predictor_mode": wanted}, actor=staff.actor, now=now)
        messages.success(request, f"The learned ranking: {MODES[wanted][0]} now.")
        return redirect("console:learning")
    return render(
        request,
        "console/learning/mode.html",
        {
            "status": read_status(staff.workspace, now=now),
            "modes": [(mode, *words) for mode, words in MODES.items()],
            "present": MODES[staff.workspace.config.predictor_mode][0],
            "wanted": wanted if wanted in MODES else "",
            "is_refused": request.method == "POST",
        },
        status=422 if request.method == "POST" else 200,
    )
