"""The page that asks before an action on many memories, and what its form says of the question."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid4

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.dateparse import parse_datetime

from engram.console.memories import changes
from engram.console.memories.changing import affected
from engram.console.memories.done import ACTIONS
from engram.console.memories.matching import kept_filters
from engram.kernel.labels import Count
from engram.kernel.literals import row_id, whole_number
from engram.kernel.pages import staff_of
from memories.models import Memory
from memories.services.lifecycle import forget
from memories.services.lifecycle.states import merged_with

SHOWN: Final = 10
_TAGS_STAY: Final = (
    "It gets one more revision; its other tags stay.|"
    "Each gets one more revision; its other tags stay."
)
# The question, what follows from it, for one and for many if they differ, and the button.
ASKED: Final[dict[str, tuple[str, str, str]]] = {
    "forget": (
        "Forget {n}?",
        "No recall, search, prompt or question shows it any more, and the same statement is "
        "refused when somebody commits it again. It can be brought back.|"
        "No recall, search, prompt or question shows them any more, and the same statements are "
        "refused when somebody commits them again. They can be brought back.",
        "Forget",
    ),
    "restore": (
        "Bring {n} back?",
        "Agents recall it again, unless something else hides it.|"
        "Agents recall them again, unless something else hides them.",
        "Bring back",
    ),
    "pin": (
        "Pin {n}?",
        "Pins lead the sessions of their project and scope, whatever is asked.",
        "Pin",
    ),
    "unpin": (
        "Unpin {n}?",
        "It is recalled by what is asked, as all others.|"
        "They are recalled by what is asked, as all others.",
        "Unpin",
    ),
    "tag": ("Add the tag “{tag}” to {n}?", _TAGS_STAY, "Add the tag"),
    "untag": ("Take the tag “{tag}” from {n}?", _TAGS_STAY, "Take the tag"),
}
assert ASKED.keys() == ACTIONS.keys()  # noqa: S101


def ask(
    request: HttpRequest, action: str, ids: Collection[UUID], tag: str, back: str
) -> HttpResponse:
    """Show what the action would do to memories of a page, with the counts."""
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


def ask_about_all(
    request: HttpRequest,
    action: str,
    rows: QuerySet[Memory],
    tag: str,
    back: str,
    *,
    now: datetime,
) -> HttpResponse:
    """Ask about more memories than a page holds: `rows` match, of which some would not change."""
    would = affected(rows, action, tag)
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
        "filters": request.POST.get("filters", ""),
        "question_id": uuid4(),
        "asked": number,
        "asked_at": now.isoformat(),
    }
    return _confirm(request, action, number, context)


def question_of(request: HttpRequest, now: datetime) -> changes.Question | None:
    """Return the question that a form confirms; None for a form without its id."""
    sent = request.POST
    named = row_id(sent.get("question", ""))
    if named is None:
        return None
    number, at = _number(sent.get("asked", "")), _moment(sent.get("asked_at", ""), now)
    return changes.Question(named, number, at, kept_filters(sent.get("filters", "")))


def _confirm(
    request: HttpRequest, action: str, number: int, context: dict[str, Any]
) -> HttpResponse:
    question, consequence, button = ASKED[action]
    counted = f"{Count(number):memory|memories}"
    of_one, _, of_many = consequence.partition("|")
    context |= {
        "action": action,
        "question": question.format(n=counted, tag=context["tag"]),
        "consequence": of_many if of_many and number != 1 else of_one,
        "button": button,
    }
    return render(request, "console/memories/confirm.html", context)


def _untouched(rows: QuerySet[Memory], number: int) -> int:
    """Return how many match that would not change; 0 if more match than are counted."""
    counted = rows.order_by()[: changes.MOST + 1].count()
    return counted - number if counted <= changes.MOST else 0


def _along(ids: Collection[UUID]) -> int:
    """Return how many others are forgotten with memories, by at most 20,000 ids."""
    return Memory.objects.filter(pk__in=merged_with(ids), forgotten_at=None).count()


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
