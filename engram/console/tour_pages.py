"""The page of the tour, and its buttons."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from engram.console.tour import STEPS, close, current_step, go_to
from engram.kernel.models import Role
from engram.kernel.pages import member_page, staff_of

_MOVES = {"next": 1, "back": -1}


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(writes=Role.READER)
def tour(request: HttpRequest) -> HttpResponse:
    """Show the steps; a POST starts the tour, goes on or back, or closes it for good."""
    if request.method != "POST":
        return render(request, "console/tour.html", {"steps": STEPS})
    asked = request.POST.get("go", "")
    if asked == "close":
        user_id = staff_of(request).actor.user_id
        assert user_id is not None  # noqa: S101  members are persons
        close(request, user_id, timezone.now())
        return redirect("console:dashboard")
    here = current_step(request)
    number = here.number + _MOVES.get(asked, 0) if here is not None and asked in _MOVES else 1
    return redirect(go_to(request, number))
