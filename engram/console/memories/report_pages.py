"""Ask what is wrong with memories, and put the answer before people as a card."""

from __future__ import annotations

from functools import partial
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from conflicts.services.reports.report import correct, report
from engram.console.memories.done import add_ticks
from engram.console.memories.reporting import MOST, note_of, report_and_show
from engram.kernel.literals import row_id
from engram.kernel.pages import member_page, return_address, staff_of
from memories.core.content import CONTENT_MAX_CHARS
from memories.models import Memory

CONTRADICTION, WRONG = "contradiction", "wrong"
NOTE_MAX_CHARS: Final = 2_000
ASKED: Final = {
    CONTRADICTION: (
        "Do these memories contradict each other?",
        "None of them changes. A card asks which of them holds; one that asks about them already "
        "grows by this. Until it is decided, recalls mark them as disputed.",
        "What is wrong with them? (a note for who decides)",
    ),
    WRONG: (
        "What is right instead?",
        "What you write becomes a memory that a user stated, beside this one. A card asks which "
        "of the two holds; until it is decided, recalls mark both as disputed.",
        "The statement that is true",
    ),
}


@member_page()
def report_memories(request: HttpRequest) -> HttpResponse:
    """Ask for the words of a report; with `confirmed` make it."""
    back = return_address(request, reverse("console:memories"))
    if request.method != "POST":
        return redirect("console:memories")
    what, sent = request.POST.get("what", ""), request.POST.getlist("ids")
    ids = [one for one in map(row_id, sent) if one is not None]
    rows = list(Memory.objects.recallable().filter(pk__in=ids[: MOST + 1]))
    if problem := _why_not(what, len(rows)):
        messages.error(request, problem)
        return redirect(add_ticks(back, ids))
    if request.POST.get("confirmed") == "yes" and _make(request, what, [row.pk for row in rows]):
        return redirect(back)
    question, consequence, label = ASKED[what]
    context = {
        "what": what,
        "rows": rows,
        "back": back,
        "question": question,
        "consequence": consequence,
        "label": label,
        "most": CONTENT_MAX_CHARS if what == WRONG else NOTE_MAX_CHARS,
        "is_needed": what == WRONG,
    }
    return render(request, "console/memories/report.html", context)


def _why_not(what: str, count: int) -> str:
    if what not in ASKED:
        return "Choose what to do."
    if what == WRONG:
        return "" if count == 1 else "Tick the one memory that is wrong."
    if 2 <= count <= MOST:
        return ""
    return f"Tick the memories that contradict each other: two to {MOST}."


def _make(request: HttpRequest, what: str, ids: list[UUID]) -> bool:
    """Make the report; return False where the true statement is missing."""
    staff = staff_of(request)
    if what == CONTRADICTION:
        note = note_of(request, NOTE_MAX_CHARS)
        work = partial(report, staff.workspace, ids, note=note, actor=staff.actor)
        report_and_show(request, work)
        return True
    right = note_of(request, CONTENT_MAX_CHARS)
    if right:
        work = partial(correct, staff.workspace, ids[0], right=right, actor=staff.actor)
        report_and_show(request, work)
    return bool(right)
