"""Pages across apps: dashboard, choice of workspace, sign-out, API description."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from engram.console import feed
from engram.console.overview import overview
from engram.kernel.chosen import choose_workspace
from engram.kernel.models import Role
from engram.kernel.pages import has_role, member_page, return_address, staff_of

FEED_ROWS = 30


@require_safe
@member_page()
def dashboard(request: HttpRequest) -> HttpResponse:
    """Show the dashboard."""
    numbers = overview(timezone.now())
    return render(
        request,
        "console/dashboard.html",
        {
            "numbers": numbers,
            "feed": feed.latest(FEED_ROWS),
            "seq": feed.last_seq(),
            "icons": ("memories", "alert", "undo", "check", "clock", "talk", "keys", "events"),
            "host": request.build_absolute_uri("/").rstrip("/"),
            "may_make_keys": has_role(request, Role.ADMIN),
        },
    )


@require_safe
@member_page()
def numbers(request: HttpRequest) -> HttpResponse:
    """Return the dashboard's figures, for live updates."""
    now = overview(timezone.now())
    run = now.last_run
    body: dict[str, Any] = {
        "memories": now.memories,
        "open_conflicts": now.open_conflicts,
        "resolved": now.resolved,
        "commits_today": now.commits_today,
        "queue_depth": now.queue_depth,
        "queue_lag_seconds": now.queue_lag_seconds,
        "model_depth": now.model_depth,
        "last_run_at": run.created_at.isoformat() if run else None,
        "last_run_status": run.status if run else None,
        "spark_line": now.sparkline.line,
        "spark_area": now.sparkline.area,
        "spark_peak": now.sparkline.peak,
    }
    return JsonResponse(body)


@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Choose another of the member's workspaces, also for the next sign-in."""
    staff = getattr(request, "staff_workspace", None)
    chosen = request.POST.get("workspace", "")
    for workspace in staff.choices if staff is not None else ():
        if str(workspace.pk) == chosen:
            choose_workspace(request, workspace, timezone.now())
    return redirect(return_address(request, reverse("console:dashboard")))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """Sign out."""
    logout(request)
    return redirect("admin:login")


@require_safe
def no_workspace(request: HttpRequest) -> HttpResponse:
    """Show instructions to a signed-in user without a workspace."""
    if not request.user.is_authenticated:
        return redirect("admin:login")
    if staff_of(request) is not None:
        return redirect("console:dashboard")
    return render(request, "console/no_workspace.html")


@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """Show the API's description, rendered from its OpenAPI document without network access."""
    return render(request, "console/api_docs.html")
