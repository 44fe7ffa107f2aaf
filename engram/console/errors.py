"""Error handlers outside views: a problem document for programs, a page for people."""

from __future__ import annotations

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from psycopg_pool import PoolTimeout

from engram.kernel.problems import as_response, wants_problem


def _answer(request: HttpRequest, code: int, detail: str) -> HttpResponse:
    if wants_problem(request):
        return as_response(code, detail)
    return render(request, f"{code}.html", status=code)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 400 for a request that Django refuses."""
    return _answer(request, 400, "The request is malformed.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 403."""
    return _answer(request, 403, "This is not allowed.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 404."""
    return _answer(request, 404, "There is no such thing here.")


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 503 when the database is unavailable, else 500."""
    error = sys.exc_info()[1]
    if isinstance(error, OperationalError | InterfaceError | PoolTimeout):
        response = _answer(request, 503, "The database is not available right now; try again.")
        response["Retry-After"] = "2"
        return response
    return _answer(request, 500, "Something went wrong on our side; it was logged.")
