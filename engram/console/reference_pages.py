"""Reference lists for people and programs: causes of problems, and rules of conflicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from conflicts.core.rules.registry import RULES
from engram.kernel.causes import CAUSES, Cause

JSON, HTML = "application/json", "text/html"


@require_safe
@vary_on_headers("Accept")
def problem(request: HttpRequest, name: str) -> HttpResponse:
    """Show the meaning and remedy of a cause, without sign-in."""
    cause = CAUSES.get(name)
    if cause is None:
        raise Http404
    return answer_as_asked(
        request, "console/problem.html", {"cause": cause}, lambda: _as_json(cause)
    )


@require_safe
@vary_on_headers("Accept")
def problems(request: HttpRequest) -> HttpResponse:
    """List all causes by status, without sign-in."""
    causes = sorted(CAUSES.values(), key=lambda cause: (cause.status, cause.name))
    return answer_as_asked(
        request,
        "console/problems.html",
        {"causes": causes},
        lambda: {"results": [_as_json(cause) for cause in causes]},
    )


def answer_as_asked(
    request: HttpRequest, template: str, context: dict[str, Any], data: Callable[[], dict[str, Any]]
) -> HttpResponse:
    """Return a page, or JSON if the caller prefers it."""
    if request.get_preferred_type([HTML, JSON]) == JSON:
        return JsonResponse(data())
    return render(request, template, context)


def _as_json(cause: Cause) -> dict[str, Any]:
    return {
        "type": cause.type,
        "title": cause.title,
        "status": cause.status,
        "meaning": cause.meaning,
        "remedy": cause.remedy,
    }


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
