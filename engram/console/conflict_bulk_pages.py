"""Actions on several cards of the list of conflicts: what they would do, the action, its undo."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join

from conflicts.admin import bulk
from conflicts.bulk_done import keep_done, read_changed
from conflicts.forms import QueueForm
from conflicts.models import Conflict
from conflicts.services.cards import queue
from conflicts.services.cards.listed import listed
from conflicts.services.verdicts.bulk_undo import undo_all
from engram.kernel.labels import Count
from engram.kernel.literals import row_id
from engram.kernel.pages import member_page, name_done, return_address, staff_of
from engram.kernel.staff import refusal_of

CARRIED = ("verb", "card", "across", "back", "q", "status", "kind", "severity", "rule", "scope",
           "mine")  # fmt: skip


@member_page()
def bulk_action(request: HttpRequest) -> HttpResponse:
    """Ask about, or carry out, one action on the ticked cards, or on all that match the filters."""
    back = name_done(return_address(request, reverse("console:conflicts")), "")
    verb = request.POST.get("verb", "")
    if request.method == "POST" and verb == "undo":
        _undo(request)
        return redirect(back)
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
    done = []

    def offer_undo(request: HttpRequest, words: str, cards: Sequence[Conflict]) -> None:
        done.append(keep_done(request, verb, words, cards, request.POST.get("assignee", "")))

    asked = bulk.run(request, verb, rows, _headings, context, tell=offer_undo)
    return asked or redirect(name_done(back, "".join(done)))


def _undo(request: HttpRequest) -> None:
    """Undo an action on several cards, and say which could not be undone, with the reasons."""
    verb, staff, changed = request.POST.get("undoes", ""), staff_of(request), read_changed(request)
    if verb not in bulk.CONFIRMATIONS or not changed:
        messages.error(request, "Choose what to undo.")
        return
    done = undo_all(
        staff.workspace, verb, changed, request.POST.get("assigned", ""),
        actor=staff.actor, now=timezone.now(),
    )  # fmt: skip
    if done.touched:
        messages.success(request, f"Undone for {Count(len(done.touched)):conflict}.")
    if done.passed:
        named = [refusal_of(one.card, one.reason) for one in done.passed[: bulk.SKIPPED_SHOWN]]
        more = len(done.passed) - len(named)
        told = format_html_join(" ", "{}", ((one,) for one in named))
        said = f"{len(done.passed)} of {len(done.passed) + len(done.touched)} could not be undone:"
        rest = f"And {more} more." if more else ""
        messages.warning(request, format_html("{} {} {}", said, told, rest))


def _headings(cards: Sequence[Conflict]) -> list[str]:
    return [row.heading for row in listed(cards)]
