"""The page of all settings of a workspace: ranges, defaults, help, what they would have done."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from conflicts.services.detection.narrative import narrative_state
from engram.console.retention_pages import LABELS, name_counted
from engram.console.settings_form import SettingsForm
from engram.kernel.configuration import known_zones
from engram.kernel.labels import Count
from engram.kernel.models import Role
from engram.kernel.pages import member_page, staff_of
from engram.kernel.refusals import InvalidError
from engram.kernel.services import change_settings, describe_settings
from memories.services.retention.due import SETTINGS, preview

REPLAY_DAYS = 30


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(reads=Role.ADMIN, writes=Role.ADMIN)
def settings_page(request: HttpRequest) -> HttpResponse:
    """Show every setting; a POST changes what was changed on the page, all or nothing."""
    staff = staff_of(request)
    described = describe_settings(staff.workspace)["describe"]
    if request.method != "POST":
        return _page(request, SettingsForm(described))
    form = SettingsForm(described, request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    if not form.changes:
        messages.warning(request, "Nothing was changed.")
        return redirect("console:settings")
    days = {name: form.cleaned_data[name] for name in SETTINGS.values()}
    is_kept_otherwise = not set(SETTINGS.values()).isdisjoint(form.changes)
    if is_kept_otherwise and request.POST.get("counted") != name_counted(staff.workspace, days):
        return _page(request, form, days=days, status=422)
    return _save(request, form)


def _save(request: HttpRequest, form: SettingsForm) -> HttpResponse:
    staff = staff_of(request)
    try:
        change_settings(staff.workspace, form.changes, actor=staff.actor, now=timezone.now())
    except InvalidError as error:
        name = error.field.partition(".")[0]
        form.add_error(name if name in form.fields else None, error.message)
        return _page(request, form, status=422)
    messages.success(request, f"Saved: {Count(len(form.changes)):setting} changed.")
    return redirect("console:settings")


def _page(
    request: HttpRequest,
    form: SettingsForm,
    *,
    days: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Show the form; with `days`, what they would delete, to be saved a second time."""
    staff, now = staff_of(request), timezone.now()
    due = []
    if days is not None:
        limits = preview(staff.workspace, now=now, changes=days)
        due = [(limit, LABELS[limit.kind][0], LABELS[limit.kind][1]) for limit in limits]
    context = {
        "form": form,
        "sections": list(form.sections()),
        "wrong": [form[name] for name in form.errors if name in form.fields],
        "tier": narrative_state(staff.workspace, now=now),
        "zones": sorted(known_zones()),
        "due": due,
        "counted": name_counted(staff.workspace, days) if days is not None else "",
        "replay_days": REPLAY_DAYS,
        "workspace": staff.workspace,
    }
    return render(request, "console/settings.html", context, status=status)
