"""Pages across apps: home, choice of workspace, sign-out, API description."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from engram.console import feed
from engram.console.api_groups import AUTHENTICATION, EXAMPLE
from engram.console.changes import changes_since
from engram.console.diagnostics.diagnose import diagnose
from engram.console.needs import needs_of
from engram.console.overview import overview
from engram.console.schema import operations
from engram.console.tour import is_offered
from engram.kernel.chosen import choose_workspace
from engram.kernel.models import Role
from engram.kernel.pages import has_role, member_page, return_address, staff_of, staff_or_none
from engram.kernel.visits import note_visit

FEED_ROWS = 30


@require_safe
@member_page()
def dashboard(request: HttpRequest) -> HttpResponse:
    """Show the home page."""
    user_id = staff_of(request).actor.user_id
    return render(
        request,
        "console/home/home.html",
        {
            "offers_tour": user_id is not None and is_offered(request, user_id),
            **_figures(request, has_health=True),
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
    """Return the figures of the home page as HTML, for live updates; the health when asked for."""
    context = _figures(request, has_health=request.GET.get("health") == "1")
    return render(request, "console/home/_figures.html", context)


def _figures(request: HttpRequest, *, has_health: bool) -> dict[str, Any]:
    """Read the figures; whoever reads them is here (`engram.kernel.visits`)."""
    staff, now = staff_of(request), timezone.now()
    visit = note_visit(staff.workspace, int(staff.actor.id), now)
    return {
        "numbers": overview(staff.workspace, now),
        "needs": needs_of(request),
        "changes": changes_since(visit.after, staff.actor, now),
        "is_new": visit.is_new,
        "diagnosis": diagnose(staff.workspace, now=now) if has_health else None,
    }


@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Choose another of the member's workspaces, also for the next sign-in."""
    staff = staff_or_none(request)
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
    frame = "console/base.html" if staff_or_none(request) else "console/open.html"
    context = {
        "frame": frame,
        "groups": operations(),
        "authentication": AUTHENTICATION,
        "example": EXAMPLE.format(host=request.build_absolute_uri("/").rstrip("/")),
        "may_add_keys": has_role(request, Role.ADMIN),
    }
    return render(request, "console/api_docs.html", context)
