"""Try a recall: its results with the steps to their scores, and why a memory is not among them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from engram.console.memories.forms import DayForm
from engram.console.memories.steps import Step, steps_of
from engram.kernel.literals import row_id
from engram.kernel.pages import member_page, staff_of
from memories.api.memories import visible_to
from memories.core.text import terms
from memories.models import Kind, Memory
from memories.serializers.recall import QUERY_MAX_CHARS
from memories.services.disputes import disputes_of
from memories.services.index.filters import with_words
from memories.services.recall.query import AUTO, MinScore, Query
from memories.services.recall.recall import RecallAnswer, recall
from memories.services.recall.why_not import WhyNot, why_not

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
K: Final = 10  # results, unless the address says how many
CANDIDATES: Final = 6  # memories offered where several hold the words
CUTS: Final[dict[str, tuple[str, MinScore]]] = {
    "": ("What is relevant", AUTO),
    "all": ("Everything found", None),
}
SWITCH: Final = (("", "As set here"), ("yes", "With"), ("no", "Without"))
EXPECTED_MAX_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class ShownResult:
    """One result: the memory, its place, its score with the steps to it, its open conflicts."""

    memory: Memory
    rank: int
    score: float
    relevance: float
    steps: Sequence[Step]
    conflicts: Sequence[UUID]


class RecallForm(DayForm):
    """A recall in the address, with the names of the API."""

    query = forms.CharField(max_length=QUERY_MAX_CHARS, required=False, label="Query")
    k = forms.IntegerField(min_value=1, max_value=100, required=False, label="At most")
    scope = forms.CharField(max_length=300, required=False, label="Scope")
    project = forms.CharField(max_length=200, required=False, label="Project")
    kind = forms.ChoiceField(
        choices=[("", "Any kind"), *Kind.choices], required=False, label="Kind"
    )
    cut = forms.ChoiceField(
        choices=[(name, words) for name, (words, _) in CUTS.items()], required=False, label="Show"
    )
    graph = forms.ChoiceField(choices=SWITCH, required=False, label="Links")
    rerank = forms.ChoiceField(choices=SWITCH, required=False, label="Closer look")
    expected = forms.CharField(max_length=EXPECTED_MAX_CHARS, required=False, label="Expected")

    @property
    def chosen(self) -> list[str]:
        """Return which options the address sets, beside the query."""
        usual = {"k": str(K)}
        return [
            name
            for name in self.fields
            if name != "query" and self.data.get(name, "").strip() not in {"", usual.get(name)}
        ]

    @property
    def wanted(self) -> Query:
        """Return the recall of a valid form; it is not recorded."""
        fields, switch = self.cleaned_data, {"yes": True, "no": False}
        then: datetime | None = fields["as_of"]
        return Query(
            text=fields["query"],
            k=fields["k"] or K,
            scope=fields["scope"].strip("/"),
            project=fields["project"],
            kinds=(fields["kind"],) if fields["kind"] else (),
            min_score=CUTS[fields["cut"]][1],
            as_of=then,
            is_reranked=switch.get(fields["rerank"]),
            uses_graph=None if then else switch.get(fields["graph"]),
            is_recorded=False,
        )


@require_safe
@member_page()
def playground(request: HttpRequest) -> HttpResponse:
    """Answer the recall that the address names, and explain it; nothing is recorded."""
    form = RecallForm(request.GET)
    context: dict[str, Any] = {"form": form, "typed": request.GET, "chosen": form.chosen}
    is_valid = form.is_valid()
    if is_valid and form.cleaned_data["query"]:
        query, now = form.wanted, timezone.now()
        workspace = staff_of(request).workspace
        answer = recall(workspace, query, now=now)
        context |= {"answer": answer, "results": _show(answer), "then": query.as_of}
        context |= _explain_expected(request, form.cleaned_data["expected"], query, now)
    return render(request, "console/memories/recall.html", context, status=200 if is_valid else 422)


def _show(answer: RecallAnswer) -> list[ShownResult]:
    conflicts = disputes_of([found.memory.pk for found in answer.results])
    return [
        ShownResult(
            found.memory, rank, found.score, found.relevance, steps_of(found.explain, found.score),
            conflicts.get(found.memory.pk, ()),
        )
        for rank, found in enumerate(answer.results, start=1)
    ]  # fmt: skip


def _explain_expected(
    request: HttpRequest, expected: str, query: Query, now: datetime
) -> dict[str, Any]:
    """Return why the expected memory is or is not among the results, or what may be meant."""
    if not expected.strip():
        return {}
    meant = _find_expected(request, expected)
    if len(meant) != 1:
        return {"meant": meant[:CANDIDATES], "is_unknown": not meant}
    # Why-not explains a recall of the present; so does the page, and says so.
    found = why_not(staff_of(request).workspace, meant[0], replace(query, as_of=None), now=now)
    return {"why": found, "why_steps": _steps_of(found)}


def _find_expected(request: HttpRequest, expected: str) -> list[Memory]:
    """Return the memory whose id or address was typed, else those that hold all the words."""
    visible = visible_to(staff_of(request).actor.role)
    named = _ID.search(expected)
    if named is not None and (memory_id := row_id(named[0])) is not None:
        return list(visible.filter(pk=memory_id))
    words = terms(expected)
    if not words:
        return []
    newest = with_words(visible, words).order_by("-created_at", "-id")
    return list(newest[: CANDIDATES + 1])


def _steps_of(found: WhyNot) -> list[Step]:
    if found.explain is None or found.score is None:
        return []
    return steps_of(found.explain, found.score)
