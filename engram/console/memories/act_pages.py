"""Do something to many memories at once, after saying what it will do; all of it can be undone."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from engram.console.memories import changes
from engram.console.memories.asked import ask, ask_about_all, question_of
from engram.console.memories.change_pages import address_of
from engram.console.memories.changing import affected, perform
from engram.console.memories.done import ACTIONS, MOST_AT_ONCE, add_done, add_ticks
from engram.console.memories.matching import matching
from engram.kernel.labels import Count
from engram.kernel.literals import row_id
from engram.kernel.pages import member_page, return_address, staff_of
from memories.models import Memory
from memories.serializers import RevisionSerializer

AT_ONCE = MOST_AT_ONCE + 1  # read, to see whether there are more


@member_page()
def act(request: HttpRequest) -> HttpResponse:
    """Ask before an action on many memories; with `confirmed` do it, and offer to undo it."""
    back = return_address(request, reverse("console:memories"))
    if request.method != "POST":
        return redirect("console:memories")
    action, ids = request.POST.get("do", ""), _ids(request)
    tag = _tag(request) if action in {"tag", "untag"} else ""
    rows = _rows(request)
    if rows is not None:
        ids = list(rows.order_by("-created_at", "-id").values_list("pk", flat=True)[:AT_ONCE])
    problem = _why_not(action, ids, tag, is_across=rows is not None)
    if problem:
        messages.error(request, problem)
        return redirect(back if rows is not None else add_ticks(back, ids))
    is_confirmed = request.POST.get("confirmed") == "yes"
    if rows is not None and (len(ids) > MOST_AT_ONCE or is_confirmed):
        return _act_on_all(request, action, rows, tag, back)
    if not is_confirmed:
        return ask(request, action, ids, tag, back)
    return _act(request, action, ids, tag, back)


def _rows(request: HttpRequest) -> QuerySet[Memory] | None:
    """Return all that match, if they were chosen; None for those that are ticked."""
    if not request.POST.get("across"):
        return None
    return matching(request.POST.get("filters", ""), staff_of(request).actor.role)


def _ids(request: HttpRequest) -> list[UUID]:
    found = (row_id(text) for text in request.POST.getlist("ids"))
    return list(dict.fromkeys(one for one in found if one is not None))


def _tag(request: HttpRequest) -> str:
    return request.POST.get("tag", "").replace("\0", "").strip()


def _why_not(action: str, ids: Collection[UUID], tag: str, *, is_across: bool) -> str:
    if action not in ACTIONS:
        return "Choose what to do."
    if not ids:
        return "No memory matches any more." if is_across else "Tick the memories first."
    if len(ids) > MOST_AT_ONCE and not is_across:
        return f"At most {MOST_AT_ONCE} memories at once."
    if action in {"tag", "untag"}:
        sent = RevisionSerializer(data={"tags": [tag]})
        if not sent.is_valid():
            return "Write a tag of up to 100 characters."
    return ""


def _act(
    request: HttpRequest, action: str, ids: Collection[UUID], tag: str, back: str
) -> HttpResponse:
    """Change the memories at once, and go back to the list, which says what was done."""
    staff = staff_of(request)
    result = perform(staff.workspace, action, ids, tag, actor=staff.actor, clock=timezone.now)
    for refusal in dict.fromkeys(result.refused.values()):
        messages.error(request, refusal)
    if result.stale:
        messages.error(request, "It was changed meanwhile.")
    if result.waiting:
        waiting = Count(len(result.waiting))
        messages.info(request, f"{waiting:memory waits|memories wait} for a review.")
    if not result.changed:
        messages.info(request, "Nothing was changed.")
        return redirect(back)
    return redirect(add_done(back, action, result.changed, tag))


def _act_on_all(
    request: HttpRequest, action: str, rows: QuerySet[Memory], tag: str, back: str
) -> HttpResponse:
    """Ask about more memories than a page holds; with `confirmed` let a worker change them."""
    now = timezone.now()
    if request.POST.get("confirmed") == "yes":
        change = _start(request, action, affected(rows, action, tag), tag)
        if change is not None:
            return redirect(address_of(change, request.POST.get("filters", "")))
        messages.warning(request, "More match than you were asked about. This is how it is now.")
    return ask_about_all(request, action, rows, tag, back, now=now)


def _start(request: HttpRequest, action: str, would: QuerySet[Memory], tag: str) -> UUID | None:
    """Queue what a question was confirmed for; None if more match than it was asked about."""
    staff, now = staff_of(request), timezone.now()
    question = question_of(request, now)
    if question is None:
        return None
    change = changes.start(
        staff.workspace, action, tag, would, question, actor=staff.actor, now=now
    )
    return None if change is None else change.pk
