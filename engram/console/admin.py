"""Admin actions across apps: report contradictions from the list of memories."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.contrib import admin, messages
from django.db import DatabaseError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from conflicts.services.reports.report import ReportOutcome, correct, report
from engram.console.webhooks import admin as webhooks  # noqa: F401  registers its pages
from engram.kernel.collisions import AGAIN, is_collision
from engram.kernel.pages import staff_of
from engram.kernel.refusals import RefusalError
from memories.admin.memories import MemoryAdmin
from memories.core.content import CONTENT_MAX_CHARS
from memories.models import Memory

MOST = 20  # as the API takes
REPORT_MESSAGES = {
    "opened": "A card asks which of them holds.",
    "joined": "A card that was waiting asks about all of them now.",
    "known": "A card asks about these already; it says that you found it too.",
}


@admin.action(description="Report a contradiction", permissions=["act"])
def report_contradiction(
    shown: MemoryAdmin, request: HttpRequest, rows: QuerySet[Memory]
) -> HttpResponse | None:
    """Report that the selected memories contradict each other."""
    if not 2 <= rows.count() <= MOST:
        messages.error(request, f"Tick the memories that contradict each other: two to {MOST}.")
        return None
    if request.POST.get("confirmed") == "yes":
        staff, ids = staff_of(request), list(rows.values_list("pk", flat=True))
        _report_and_show(
            request,
            partial(report, staff.workspace, ids, note=_note(request, 2000), actor=staff.actor),
        )
        return None
    return shown.confirm(
        request,
        rows,
        question="Do these {n} memories contradict each other?",
        consequence="None of them changes. A card asks which of them holds; one that asks about "
        "them already grows by this. Until it is decided, recalls mark them as disputed.",
        button="Report",
        done="",
        work=lambda _: 0,
        is_grave=False,
        asks_for="What is wrong with them? (a note for who decides)",
    )


@admin.action(description="This is wrong", permissions=["act"])
def report_wrong(
    shown: MemoryAdmin, request: HttpRequest, rows: QuerySet[Memory]
) -> HttpResponse | None:
    """Commit a correction of the selected memory, and report the contradiction."""
    if rows.count() != 1:
        messages.error(request, "Tick the one memory that is wrong.")
        return None
    right = _note(request, CONTENT_MAX_CHARS)
    if right and request.POST.get("confirmed") == "yes":
        staff, wrong = staff_of(request), rows.get().pk
        _report_and_show(
            request, partial(correct, staff.workspace, wrong, right=right, actor=staff.actor)
        )
        return None
    form_data = request.POST.copy()  # an empty answer shows the form again
    form_data.pop("confirmed", None)
    request.POST = form_data  # type: ignore[assignment]
    return shown.confirm(
        request,
        rows,
        question="What is right instead?",
        consequence="What you write becomes a memory that a user stated, beside this one. A card "
        "asks which of the two holds; until it is decided, recalls mark both as disputed.",
        button="Report",
        done="",
        work=lambda _: 0,
        is_grave=False,
        asks_for="The statement that is true",
    )


def _note(request: HttpRequest, most: int) -> str:
    return request.POST.get("note", "").replace("\0", "").strip()[:most]


def _report_and_show(request: HttpRequest, work: Callable[..., ReportOutcome]) -> None:
    """Report the contradiction and show the result."""
    try:
        outcome = work(now=timezone.now())
    except RefusalError as error:
        messages.error(request, error.detail)
        return
    except DatabaseError as error:
        if not is_collision(error):
            raise
        messages.error(request, AGAIN)
        return
    assert outcome.card is not None  # noqa: S101  a person's report always has a card
    card = reverse("console:conflict", args=[outcome.card.pk])
    link = format_html('{} <a href="{}">See the card</a>', REPORT_MESSAGES[outcome.outcome], card)
    messages.success(request, link)


MemoryAdmin.actions += [report_contradiction, report_wrong]  # type: ignore[list-item]
