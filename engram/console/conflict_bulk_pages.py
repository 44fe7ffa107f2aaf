"""Actions on several cards of the list of conflicts: what they would do, then the action."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from conflicts.admin import bulk
from conflicts.forms import QueueForm
from conflicts.models import Conflict
from conflicts.services.cards import queue
from conflicts.services.cards.listed import listed
from engram.kernel.literals import row_id
from engram.kernel.pages import member_page, return_address, staff_of

CARRIED = ("verb", "card", "across", "back", "q", "status", "kind", "severity", "rule", "scope",
           "mine")  # fmt: skip


@member_page()
def bulk_action(request: HttpRequest) -> HttpResponse:
    """Ask about, or carry out, one action on the ticked cards, or on all that match the filters."""
    back = return_address(request, reverse("console:conflicts"))
    verb = request.POST.get("verb", "")
    if request.method != "POST" or verb not in bulk.CONFIRMATIONS:
        return redirect(back)
    if request.POST.get("across"):
        form = QueueForm(request.POST)
        wanted = form.to_filter(default_status=queue.ALL, user_id=staff_of(request).actor.user_id)
        rows = queue.cards(wanted)
    else:
        ids = [found for text in request.POST.getlist("card") if (found := row_id(text))]
        if not ids:
            messages.warning(request, "Tick the conflicts first.")
            return redirect(back)
        rows = queue.cards(queue.CardFilter(status=queue.ALL)).filter(pk__in=ids)
    context = {"template": "conflicts/bulk.html", "carried": CARRIED, "cancel": back}
    return bulk.run(request, verb, rows, _headings, context) or redirect(back)


def _headings(cards: Sequence[Conflict]) -> list[str]:
    return [row.heading for row in listed(cards)]
