"""Count every request, by method and status."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from engram.kernel import heartbeat

METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


class CountingMiddleware:
    """Counts every response in the process's counters."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle the request and count it."""
        response = self.get_response(request)
        # Callers choose the method: unknown ones are counted under one name.
        method = request.method if request.method in METHODS else "OTHER"
        heartbeat.tally.count_response(str(method), response.status_code)
        return response
