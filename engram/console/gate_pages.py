"""The page of the redundancy gate: metrics, merge suggestions, merges to judge."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from conflicts.core.wording import word_diff
from engram.console.inbox.addresses import address_of
from engram.console.inbox.forms import named_item
from engram.console.inbox.judged_merges import JudgedMerges
from engram.console.inbox.last import Undoable, decided, undoable_named
from engram.console.inbox.source import InboxFilter
from engram.console.inbox.suggestions import (
    SuggestionSource,
    answers_to,
    by_age,
    label_of,
    preview_merges,
)
from engram.kernel.last_decision import forget_one, keep_last
from engram.kernel.models import Role
from engram.kernel.pages import View, has_role, member_page, name_done, staff_of
from engram.kernel.refusals import RefusalError
from memories.models import Merge, MergeSuggestion, Relation
from memories.services.gate.audit import audit, sample
from memories.services.gate.metrics import GateMetrics, measure_gate

WEEKS, YEAR = 12, 52
SHOWN = 10
PAIRS = {"suggestions": "suggestion", "merges": "merge"}  # kinds, and how ids of pairs begin


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
            "done": _toast(request, now),
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


def _toast(request: HttpRequest, now: datetime) -> dict[str, Any] | None:
    """Return what was decided about the pair that the address names, with its undo."""
    named = named_item(request.GET.get("done", ""))
    found = _undoable(request, named[0]) if named else None
    done = decided(found, named[1], now) if found and named else None
    if found is None or named is None or done is None:
        return None
    kind, item = found.name, named[1]
    if kind == JudgedMerges.name:
        seen = reverse("console:memory", args=[Merge.objects.get(pk=item).memory_id])
    else:
        seen = address_of({}, f"{kind}:{item}")
    url = reverse("console:gate-undo", args=[kind, item])
    return {"url": url, "words": done.words, "undo": done.undo, "back": seen}


def _undoable(request: HttpRequest, kind: str) -> Undoable | None:
    """Return what undoes answers about a kind of pairs of this page, for those who may."""
    return undoable_named(kind, staff_of(request).actor.role) if kind in PAIRS else None


def _of_forms(view: View) -> View:
    """Lead others than forms (a reload, a sign-in in between) to the page."""

    @wraps(view)
    def run(request: HttpRequest, **named: Any) -> HttpResponse:
        return view(request, **named) if request.method == "POST" else redirect("console:gate")

    return run


def _show_done(request: HttpRequest, kind: str, item: UUID, now: datetime) -> HttpResponse:
    """Keep what was decided last, and show the page with its undo."""
    keep_last(request, kind, item, now)
    return redirect(name_done(reverse("console:gate"), f"{kind}:{item}"))


def _show_refusal(request: HttpRequest, error: RefusalError) -> HttpResponse:
    messages.warning(request, getattr(error, "message", error.detail))
    return redirect("console:gate")


@member_page()
@_of_forms
def answer(request: HttpRequest, suggestion_id: UUID) -> HttpResponse:
    """Answer a suggestion as its card in the inbox does."""
    staff, now = staff_of(request), timezone.now()
    given, source = request.POST.get("answer", ""), SuggestionSource()
    try:
        source.act(staff.workspace, suggestion_id, given, note="", actor=staff.actor, now=now)
    except RefusalError as error:
        return _show_refusal(request, error)
    return _show_done(request, source.name, suggestion_id, now)


@member_page()
@_of_forms
def judge(request: HttpRequest, merge_id: UUID) -> HttpResponse:
    """Confirm a merge, or split it."""
    staff, now = staff_of(request), timezone.now()
    is_correct = request.POST.get("answer") == "right"
    told: dict[str, Any] = {"is_correct": is_correct, "is_split": not is_correct}
    try:
        audit(staff.workspace, merge_id, **told, actor=staff.actor, now=now)
    except RefusalError as error:
        return _show_refusal(request, error)
    return _show_done(request, JudgedMerges.name, merge_id, now)


@member_page()
@_of_forms
def undo(request: HttpRequest, source: str, item: UUID) -> HttpResponse:
    """Undo the answer about a pair, and show the pair again."""
    found, staff = _undoable(request, source), staff_of(request)
    if found is None:
        raise Http404
    forget_one(request, source, item)
    try:
        found.undo(staff.workspace, item, actor=staff.actor, now=timezone.now())
    except RefusalError as error:
        return _show_refusal(request, error)
    messages.success(request, "Undone: the pair waits again.")
    return redirect(f"{reverse('console:gate')}#{PAIRS[source]}-{item}")
