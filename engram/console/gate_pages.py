"""The page of the redundancy gate: metrics, merge suggestions, merges to judge."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from conflicts.core.wording import word_diff
from engram.console.inbox.source import InboxFilter
from engram.console.inbox.suggestions import (
    SuggestionSource,
    answers_to,
    by_age,
    label_of,
    preview_merges,
)
from engram.kernel.models import Role
from engram.kernel.pages import has_role, member_page, staff_of
from engram.kernel.refusals import RefusalError
from memories.models import Merge, MergeSuggestion, Relation
from memories.services.gate.audit import audit, sample
from memories.services.gate.metrics import GateMetrics, measure_gate

WEEKS, YEAR = 12, 52
SHOWN = 10
MERGED = "Merged. Both texts are kept; a split takes them apart."
SAID = {
    "reject": "Kept apart: the gate will not ask about these two again.",
    "contradict": "Kept apart: a card asks which of the two holds.",
}


@require_safe
@member_page()
def gate(request: HttpRequest) -> HttpResponse:
    """Show the gate's metrics, open suggestions and merges to judge."""
    now = timezone.now()
    metrics = measure_gate(since=now - timedelta(weeks=WEEKS), now=now)
    year = None if _has_decided(metrics) else _year(metrics, now)
    # As many as the inbox counts: snoozed ones wait in neither.
    suggestions = SuggestionSource().due_now(InboxFilter(), now)
    merges = sample()
    return render(
        request,
        "console/gate.html",
        {
            "metrics": year or metrics,
            "is_wide": year is not None,
            "weeks_back": WEEKS,
            "policy": staff_of(request).workspace.config.gate_policy,
            "suggestions": [_show_suggestions(row) for row in suggestions[:SHOWN]],
            "suggestions_total": suggestions.count(),
            "merges": [_show_merges(row) for row in merges[:SHOWN]],
            "merges_total": merges.count(),
            "may_decide": has_role(request, Role.REVIEWER),
        },
    )


def _year(recent: GateMetrics, now: datetime) -> GateMetrics | None:
    """Return the metrics of a year, if they have more data than those of the last weeks."""
    year = measure_gate(since=now - timedelta(weeks=YEAR), now=now)
    return year if _has_decided(year) or (year.commits and not recent.commits) else None


def _has_decided(metrics: GateMetrics) -> bool:
    return bool(metrics.merged or metrics.kept_apart)


def _show_suggestions(row: MergeSuggestion) -> dict[str, Any]:
    older, newer = by_age(row)
    difference = word_diff(older.content, newer.content)
    of_older, of_newer = preview_merges(row)
    return {
        "row": row,
        "label": label_of(row),
        "is_different": row.relation == Relation.DIFFERENT,
        "answers": answers_to(row),
        "members": [
            {"number": 1, "memory": older, "spans": difference.before, "merging": of_older},
            {"number": 2, "memory": newer, "spans": difference.after, "merging": of_newer},
        ],
    }


def _show_merges(row: Merge) -> dict[str, Any]:
    statement = row.observation.content if row.observation else ""
    difference = word_diff(row.before["content"], statement)
    return {
        "row": row,
        "before": difference.before,
        "statement": difference.after,
        "took_wording": row.after["content"] != row.before["content"],
    }


@member_page()
def answer(request: HttpRequest, suggestion_id: UUID) -> HttpResponse:
    """Answer a suggestion as its card in the inbox does."""
    if request.method == "POST":
        staff = staff_of(request)
        given = request.POST.get("answer", "")
        by: dict[str, Any] = {"actor": staff.actor, "now": timezone.now()}
        try:
            SuggestionSource().act(staff.workspace, suggestion_id, given, note="", **by)
            messages.success(request, SAID.get(given, MERGED))
        except RefusalError as error:
            messages.warning(request, getattr(error, "message", error.detail))
    return redirect("console:gate")


@member_page()
def judge(request: HttpRequest, merge_id: UUID) -> HttpResponse:
    """Confirm a merge, or split it."""
    if request.method == "POST":
        staff = staff_of(request)
        is_correct = request.POST.get("answer") == "right"
        try:
            audit(
                staff.workspace,
                merge_id,
                is_correct=is_correct,
                is_split=not is_correct,
                actor=staff.actor,
                now=timezone.now(),
            )
            message = (
                "Noted: a right merge." if is_correct else "Taken apart: both are recalled again."
            )
            messages.success(request, message)
        except RefusalError as error:
            messages.warning(request, getattr(error, "message", error.detail))
    return redirect("console:gate")
