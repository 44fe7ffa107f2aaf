"""The page on which members choose whether they get the daily digest by mail."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from engram.console.digests.due import next_at
from engram.console.digests.subscribe import is_subscribed, subscribe
from engram.console.digests.text import subject_of, text_of
from engram.console.digests.waiting import find_waiting
from engram.console.models import DigestMail
from engram.kernel.models import Role
from engram.kernel.pages import has_role, member_page, staff_of

MAILS_SHOWN = 7


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(writes=Role.READER)
def digest(request: HttpRequest) -> HttpResponse:
    """Show the member's choice and what a digest would say now; a POST changes the choice."""
    staff, now = staff_of(request), timezone.now()
    user_id = staff.actor.user_id
    assert user_id is not None  # noqa: S101  members are persons
    if request.method == "POST":
        wants = request.POST.get("wants") == "yes"
        subscribe(staff.workspace, wants=wants, user_id=user_id, now=now)
        lacks = _name_missing(request) if wants else ""
        if lacks:
            messages.warning(request, f"You will get it once {lacks}.")
        else:
            messages.success(
                request, "You get the digest by mail." if wants else "You get no digest any more."
            )
        return redirect("console:digest")
    found = find_waiting(staff.actor.role, now)
    context = {
        "is_subscribed": is_subscribed(user_id),
        "is_mailed": not _name_missing(request),
        "sends_mail": settings.ENGRAM_SENDS_MAIL,
        "address": getattr(request.user, "email", ""),
        "next_at": next_at(staff.workspace, now),
        "time_zone": staff.workspace.config.time_zone,
        "quotes": staff.workspace.config.digest_texts,
        "found": found,
        "subject": subject_of(staff.workspace, found),
        "text": text_of(staff.workspace, found),
        "mails": DigestMail.objects.filter(user_id=user_id).order_by("-queued_at")[:MAILS_SHOWN],
        "may_change": has_role(request, Role.ADMIN),
        "workspace": staff.workspace,
    }
    return render(request, "console/digest.html", context)


def _name_missing(request: HttpRequest) -> str:
    """Return what must be there before a digest can be mailed to the member; "" for nothing."""
    missing = []
    if not settings.ENGRAM_SENDS_MAIL:
        missing.append("this installation has a mail server")
    if not getattr(request.user, "email", ""):
        missing.append("your account has an e-mail address")
    return " and ".join(missing)
