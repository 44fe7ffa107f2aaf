"""Admin actions across apps: report contradictions from the list of memories."""

from __future__ import annotations

from functools import partial

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from conflicts.services.reports.report import correct, report
from engram.console import history_admin  # noqa: F401  registers its pages
from engram.console.memories.reporting import MOST, note_of, report_and_show
from engram.console.webhooks import admin as webhooks  # noqa: F401  registers its pages
from engram.kernel.pages import staff_of
from memories.admin.memories import MemoryAdmin
from memories.core.content import CONTENT_MAX_CHARS
from memories.models import Memory


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
        report_and_show(
            request,
            partial(report, staff.workspace, ids, note=note_of(request, 2000), actor=staff.actor),
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
    right = note_of(request, CONTENT_MAX_CHARS)
    if right and request.POST.get("confirmed") == "yes":
        staff, wrong = staff_of(request), rows.get().pk
        report_and_show(
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


MemoryAdmin.actions += [report_contradiction, report_wrong]  # type: ignore[list-item]
