"""The list of rules that open conflicts: meaning, example and source module of each."""

from __future__ import annotations

from dataclasses import asdict

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from conflicts.core.rules.registry import RULES
from engram.console.problem_pages import answer_as_asked


@require_safe
@vary_on_headers("Accept")
def rules(request: HttpRequest) -> HttpResponse:
    """List all rules in the order in which they are applied, without sign-in."""
    return answer_as_asked(
        request,
        "console/rules.html",
        {"rules": RULES},
        lambda: {"results": [asdict(rule) for rule in RULES]},
    )
