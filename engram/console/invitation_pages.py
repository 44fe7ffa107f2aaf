"""The page of an invitation's link, on which the invited person accepts or declines."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from engram.kernel.invitations import accept, decline, find
from engram.kernel.refusals import MissingError

TEMPLATE = "console/invitation.html"


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation; a POST accepts or declines it."""
    user, now = request.user, timezone.now()
    assert user.is_authenticated  # noqa: S101  checked by login_required
    try:
        if request.method != "POST":
            offered = find(token, username=user.get_username(), now=now)
            return render(request, TEMPLATE, {"offered": offered})
        if request.POST.get("answer") == "decline":
            decline(token, user=user, now=now)
            return render(request, TEMPLATE, {"is_declined": True})
        return render(request, TEMPLATE, {"membership": accept(token, user=user, now=now)})
    except MissingError as error:
        return render(request, TEMPLATE, {"refusal": error.detail}, status=404)
