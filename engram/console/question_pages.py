"""The pages of what the workspace knows: questions with the answers that hold."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from conflicts.forms import QuestionForm
from conflicts.services.questions.former import FORMER_STATES
from conflicts.services.questions.select import first_or_all
from conflicts.services.questions.show import show_question, show_questions
from engram.kernel.pages import member_page, staff_of
from engram.kernel.pagination import Page, page_of

NEWEST_FIRST = ("-observed_at", "-id")
SIZE = 25
NOTHING = Page((), previous="", next="")


@require_safe
@member_page()
def questions(request: HttpRequest) -> HttpResponse:
    """List questions, those answered last first; filters that are wrong are shown as such."""
    form = QuestionForm(request.GET)
    context: dict[str, Any] = {"form": form, "filters": form.given, "page": NOTHING, "rows": []}
    if form.is_valid():
        wanted, now = form.wanted, timezone.now()
        first = 0 if "cursor" in request.GET else SIZE + 1
        with first_or_all(wanted, first, now=now) as found:
            page = page_of(found, request, size=SIZE, ordering=NEWEST_FIRST)
        rows = show_questions(staff_of(request).workspace, page.rows, now=now, as_of=wanted.as_of)
        context |= {"page": page, "rows": rows, "then": _then(form)}
    status = 422 if form.errors else 200
    return render(request, "console/questions/list.html", context, status=status)


@require_safe
@member_page()
def question(request: HttpRequest, question_id: UUID) -> HttpResponse:
    """Show one question with its history, as of a day if the address names one."""
    form = QuestionForm(request.GET)
    form.is_valid()
    found = show_question(
        staff_of(request).workspace,
        question_id,
        now=timezone.now(),
        as_of=form.cleaned_data.get("as_of"),
    )
    if found is None:
        raise Http404
    known, history = found
    answers: dict[UUID | None, str] = {one.memory: one.answer for one in history}
    context = {
        "known": known,
        "history": [(one, answers.get(one.replaced_by)) for one in history],
        "is_cut": known.answers_count > sum(one.state not in FORMER_STATES for one in history),
        "form": form,
        "then": _then(form),
    }
    return render(request, "console/questions/one.html", context)


def _then(form: QuestionForm) -> str:
    """Return the query that keeps the day of the page, or nothing."""
    day = form.given.get("as_of")
    return f"?{urlencode({'as_of': day})}" if day and "as_of" not in form.errors else ""
