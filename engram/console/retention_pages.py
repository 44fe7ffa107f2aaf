"""The page on which admins choose how long things are kept, after a count of what would go.

What goes is gone for good, so only days that were counted are saved: the form carries them.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from engram.console.retention_api import MAX_DAYS
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.models import Role, Workspace
from engram.kernel.pages import has_role, member_page, staff_of
from engram.kernel.services import change_settings
from memories.services.retention.due import SETTINGS, preview

LABELS = {
    "sessions": ("Sessions", "session", "with what was judged and learned from them"),
    "transcripts": ("Transcripts", "transcript", "their sessions stay"),
    "recalls": (
        "Records of recalls", "row", "counts of days, and which memories were recalled together",
    ),
    "queries": (
        "Past recalls", "recall", "their queries, what they returned and why; 5,000 at most",
    ),
}  # fmt: skip


def _days(label: str) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, required=False, min_value=1, max_value=MAX_DAYS, help_text="empty: kept"
    )


class RetentionForm(forms.Form):
    """Days by what they limit; empty: kept."""

    retention_session_days = _days("Sessions")
    retention_transcript_days = _days("Transcripts")
    retention_recall_days = _days("Records of recalls")
    retention_query_days = _days("Past recalls")


@member_page(reads=Role.REVIEWER, writes=Role.ADMIN)
def retention(request: HttpRequest) -> HttpResponse:
    """Show the limits with what is due; a POST counts with other days, or saves them."""
    staff, now = staff_of(request), timezone.now()
    config = staff.workspace.config
    if request.method != "POST":
        return _page(request, RetentionForm(initial=_present(config)), {})
    form = RetentionForm(request.POST)
    if not form.is_valid():
        return _page(request, form, {}, status=422)
    if request.POST.get("do") == "save":
        if request.POST.get("counted") != name_counted(staff.workspace, form.cleaned_data):
            return _page(request, form, form.cleaned_data, is_uncounted=True, status=422)
        change_settings(staff.workspace, form.cleaned_data, actor=staff.actor, now=now)
        messages.success(request, "Saved. What is due is deleted within the hour.")
        return redirect("console:retention")
    return _page(request, form, form.cleaned_data)


def name_counted(workspace: Workspace, days: dict[str, Any]) -> str:
    """Return the workspace and its days as the form carries them after their count."""
    return ",".join([str(workspace.pk), *(str(days[name] or "") for name in SETTINGS.values())])


def _present(config: WorkspaceSettings) -> dict[str, Any]:
    return {name: getattr(config, name) for name in SETTINGS.values()}


def _page(
    request: HttpRequest,
    form: RetentionForm,
    changes: dict[str, Any],
    *,
    is_uncounted: bool = False,
    status: int = 200,
) -> HttpResponse:
    staff = staff_of(request)
    present = _present(staff.workspace.config)
    limits = preview(staff.workspace, now=timezone.now(), changes=changes)
    rows = [
        (form[SETTINGS[limit.kind]], *LABELS[limit.kind], limit, present[SETTINGS[limit.kind]])
        for limit in limits
    ]
    context = {
        "form": form,
        "rows": rows,
        "time_zone": staff.workspace.config.time_zone,
        "is_tried": bool(changes) and changes != present,
        "is_uncounted": is_uncounted,
        "counted": name_counted(staff.workspace, changes) if changes else "",
        "may_save": has_role(request, Role.ADMIN),
    }
    return render(request, "console/retention.html", context, status=status)
