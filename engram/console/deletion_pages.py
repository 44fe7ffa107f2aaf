"""The page of the deletions of workspaces that a person has asked for."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from engram.kernel.pages import staff_or_none
from engram.kernel.workspace_deletions import WorkspaceDeletion

MOST = 50


@require_safe
@never_cache
@login_required
def deletions(request: HttpRequest) -> HttpResponse:
    """Show how far the latest deletions are: a person's own, to superusers those of everybody.

    Needs no workspace: the one that is deleted may have been the person's last.
    """
    rows = WorkspaceDeletion.objects.all()
    if not request.user.is_superuser:
        rows = rows.filter(caller=f"user:{request.user.pk}")
    shown = list(rows[:MOST])
    has_workspace = staff_or_none(request) is not None
    context = {
        "frame": "console/base.html" if has_workspace else "console/plain.html",
        "deletions": shown,
        "most": MOST,
        "is_running": any(row.due_at is not None for row in shown),
        "has_workspace": has_workspace,
    }
    return render(request, "console/deletions.html", context)
