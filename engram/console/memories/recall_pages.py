"""The page of one past recall: what was asked, by whom, and what it returned and why."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from engram.console.memories.recalls import results_in
from engram.kernel.models import Role
from engram.kernel.pages import has_role, member_page
from memories.models import PastRecall


@require_safe
@member_page()
def past_recall(request: HttpRequest, recall_id: UUID) -> HttpResponse:
    """Show one past recall; the texts of forgotten memories are not shown."""
    found = PastRecall.objects.filter(pk=recall_id).first()
    if found is None:
        raise Http404
    recall, results = results_in(found)
    context = {
        "one": recall,
        "results": results,
        "erased": max(found.returned - len(results), 0),
        "may_see_forgotten": has_role(request, Role.AGENT),  # as `visible_to` does
    }
    return render(request, "console/memories/past_recall.html", context)
