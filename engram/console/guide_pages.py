"""The pages of the guides."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from engram.console.guides import GUIDES, read_guide
from engram.kernel.pages import member_page


@require_safe
@member_page()
def guides(request: HttpRequest) -> HttpResponse:
    """List the guides."""
    listed = [(read_guide(name), about) for name, about in GUIDES.items()]
    return render(request, "console/guides.html", {"guides": listed})


@require_safe
@member_page()
def guide(request: HttpRequest, name: str) -> HttpResponse:
    """Show a guide with its contents."""
    if name not in GUIDES:
        raise Http404
    return render(request, "console/guide.html", {"guide": read_guide(name)})
