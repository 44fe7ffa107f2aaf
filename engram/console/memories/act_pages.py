"""Do something to many memories at once, after saying what it will do; all of it can be undone."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from engram.console.memories import changes
from engram.console.memories.change_pages import address_of
from engram.console.memories.changing import affected, perform
from engram.console.memories.done import ACTIONS, MOST_AT_ONCE, add_done
from engram.console.memories.matching import kept_filters, matching
from engram.kernel.labels import Count
from engram.kernel.literals import row_id, whole_number
from engram.kernel.pages import member_page, return_address, staff_of
from memories.models import Memory
from memories.serializers import RevisionSerializer
from memories.services.lifecycle import forget
from memories.services.lifecycle.states import merged_with

AT_ONCE = MOST_AT_ONCE + 1  # read, to see whether there are more
ASKED = {
    "forget": (
        "Forget {n}?",
        "No recall, search, prompt or question shows them any more, and the same statements are "
        "refused when somebody commits them again. They can be brought back.",
    ),
    "restore": ("Bring {n} back?", "Agents recall them again, unless something else hides them."),
    "pin": ("Pin {n}?", "Pins lead the sessions of their project and scope, whatever is asked."),
    "unpin": ("Unpin {n}?", "They are recalled by what is asked, as all others."),
    "tag": ("Tag {n}?", "Each gets one more revision; its other tags stay."),
    "untag": ("Take the tag from {n}?", "Each gets one more revision; its other tags stay."),
}
SHOWN = 10


@member_page()
def act(request: HttpRequest) -> HttpResponse:
    """Ask before an action on many memories; with `confirmed` do it, and offer to undo it."""
    back = return_address(request, reverse("console:memories"))
    if request.method != "POST":
        return redirect("console:memories")
    action, ids = request.POST.get("do", ""), _ids(request)
    tag = _tag(request) if action in {"tag", "untag"} else ""
    filters, role = request.POST.get("filters", ""), staff_of(request).actor.role
    rows = matching(filters, role) if request.POST.get("across") else None
    if rows is not None:
        ids = list(rows.order_by("-created_at", "-id").values_list("pk", flat=True)[:AT_ONCE])
    problem = _why_not(action, ids, tag, is_across=rows is not None)
    if problem:
        messages.error(request, problem)
        return redirect(back)
    if rows is not None and (len(ids) > MOST_AT_ONCE or request.POST.get("confirmed") == "yes"):
        return _act_on_all(request, action, rows, tag, back)
    if request.POST.get("confirmed") != "yes":
        return _ask(request, action, ids, tag, back)
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


def _ask(
    request: HttpRequest, action: str, ids: Collection[UUID], tag: str, back: str
) -> HttpResponse:
    """Show what the action would do, with the counts."""
    staff = staff_of(request)
    rows = list(affected(Memory.objects.filter(pk__in=ids), action, tag))
    along = 0
    if action == "forget":
        would = forget.preview(staff.workspace, [row.pk for row in rows], actor=staff.actor)
        along = len(would.memories) - len(rows)
    context = {
        "tag": tag,
        "back": back,
        "rows": rows,
        "shown": rows[:SHOWN],
        "beyond": len(rows) - SHOWN,
        "untouched": len(ids) - len(rows),
        "along": along,
    }
    return _confirm(request, action, len(rows), context)


def _confirm(
    request: HttpRequest, action: str, number: int, context: dict[str, Any]
) -> HttpResponse:
    question, consequence = ASKED[action]
    context |= {
        "action": action,
        "question": question.format(n=f"{Count(number):memory|memories}"),
        "consequence": consequence,
    }
    return render(request, "console/memories/confirm.html", context)


def _act_on_all(
    request: HttpRequest, action: str, rows: QuerySet[Memory], tag: str, back: str
) -> HttpResponse:
    """Ask about more memories than a page holds; with `confirmed` let a worker change them."""
    staff, now = staff_of(request), timezone.now()
    filters, would = request.POST.get("filters", ""), affected(rows, action, tag)
    if request.POST.get("confirmed") == "yes":
        question = _question(request, now)
        change = None
        if question is not None:
            change = changes.start(
                staff.workspace, action, tag, would, question, actor=staff.actor, now=now
            )
        if change is not None:
            return redirect(address_of(change.pk, filters))
        messages.warning(request, "More match than you were asked about. This is how it is now.")
    ids = list(would.order_by().values_list("pk", flat=True)[: changes.MOST + 1])
    number = len(ids)
    if number > changes.MOST:
        messages.error(request, f"At most {changes.MOST:,} memories at once: filter them first.")
        return redirect(back)
    shown = list(would.order_by("-created_at", "-id")[:SHOWN])
    context = {
        "tag": tag,
        "back": back,
        "rows": shown,
        "shown": shown,
        "beyond": number - SHOWN,
        "untouched": _untouched(rows, number),
        "along": _along(ids) if action == "forget" else 0,
        "filters": filters,
        "question_id": uuid4(),
        "asked": number,
        "asked_at": now.isoformat(),
    }
    return _confirm(request, action, number, context)


def _untouched(rows: QuerySet[Memory], number: int) -> int:
    """Return how many match that would not change; 0 if more match than are counted."""
    counted = rows.order_by()[: changes.MOST + 1].count()
    return counted - number if counted <= changes.MOST else 0


def _along(ids: Collection[UUID]) -> int:
    """Return how many others are forgotten with memories, by at most 20,000 ids."""
    return Memory.objects.filter(pk__in=merged_with(ids), forgotten_at=None).count()


def _question(request: HttpRequest, now: datetime) -> changes.Question | None:
    """Return the question that a form confirms; None for a form without its id."""
    sent = request.POST
    named = row_id(sent.get("question", ""))
    if named is None:
        return None
    number, at = _number(sent.get("asked", "")), _moment(sent.get("asked_at", ""), now)
    return changes.Question(named, number, at, kept_filters(sent.get("filters", "")))


def _number(text: str) -> int:
    """Return of how many memories a page asked; 0 for what is no number."""
    try:
        return whole_number(text, least=0, most=changes.MOST)
    except ValueError:
        return 0


def _moment(text: str, now: datetime) -> datetime:
    """Return the moment at which a page asked; now for what is none, or lies ahead."""
    try:
        at = parse_datetime(text)
    except ValueError:
        at = None
    return now if at is None or at.tzinfo is None or at > now else at
