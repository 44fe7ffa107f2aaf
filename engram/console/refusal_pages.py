"""The page of what extraction left out: every refused statement that is stored, to keep or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from engram.kernel.literals import row_id
from engram.kernel.models import Role
from engram.kernel.pages import member_page, return_address, staff_of
from engram.kernel.pagination import ByPosition, page_of
from engram.kernel.refusals import RefusalError
from memories.core.extraction.floor import explain_reason
from memories.models import ExtractionRefusal, RefusalDecision
from memories.services.extraction import refusals
from memories.services.extraction.results import shown_texts
from memories.services.extraction.write import REFUSALS_LISTED

SIZE: Final = 25
_VERBS: Final = {
    "keep": (refusals.keep, "Kept as a memory."),
    "leave_out": (refusals.leave_out, "Left out."),
    "take_back": (refusals.take_back, "Taken back: nobody has decided about it."),
}


@require_safe
@member_page(reads=Role.REVIEWER)
def refused(request: HttpRequest) -> HttpResponse:
    """List refused statements, newest first; those of one transcript in its order."""
    job_id = row_id(request.GET.get("job", ""))
    rows = ExtractionRefusal.objects.all()
    if job_id is None:
        page = page_of(rows, request, size=SIZE)
    else:
        of_job = rows.filter(job=job_id)
        order = ("position", "id")
        page = page_of(of_job, request, size=SIZE, pages=ByPosition, ordering=order)
    context = {
        "page": page,
        "rows": _shown(page.rows),
        "job": job_id,
        "refused": refusals.count_refused(job_id) if job_id else 0,
        "most": REFUSALS_LISTED,
    }
    return render(request, "console/refused.html", context)


def _shown(rows: Sequence[Any]) -> list[dict[str, Any]]:
    texts = shown_texts(rows)
    return [
        {
            "row": row,
            "said": texts[row.pk],
            "why": explain_reason(row.reason),
            "is_open": row.decision == RefusalDecision.UNDECIDED,
        }
        for row in rows
    ]


@member_page(reads=Role.REVIEWER)
def decide(request: HttpRequest, refusal_id: UUID) -> HttpResponse:
    """Keep a refused statement, leave it out, or take that back, and show the list again.

    Others than forms (a reload, a sign-in in between) are led to the list.
    """
    if request.method != "POST":
        return redirect("console:refused")
    staff = staff_of(request)
    verb, told = _VERBS.get(request.POST.get("answer", ""), (None, ""))
    if verb is None:
        raise Http404
    try:
        verb(staff.workspace, refusal_id, actor=staff.actor, now=timezone.now())
    except RefusalError as error:
        messages.warning(request, getattr(error, "message", error.detail))
    else:
        messages.success(request, told)
    return redirect(return_address(request, reverse("console:refused")))
