"""Counts every request, by method and status."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from engram.kernel import heartbeat

METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


class CountingMiddleware:
    """Tells the process's tally of every answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer and count."""
        response = self.get_response(request)
        # A method is the caller's to choose: what we do not know is one name, not thousands.
        method = request.method if request.method in METHODS else "OTHER"
        heartbeat.tally.answered(str(method), response.status_code)
        return response
