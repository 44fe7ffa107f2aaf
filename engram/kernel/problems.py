"""Convert errors to RFC 9457 problem documents."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from psycopg_pool import PoolTimeout
from rest_framework import exceptions
from rest_framework.response import Response

from engram.kernel.causes import OF_STATUS, WRITTEN_MEANWHILE, Cause
from engram.kernel.collisions import AGAIN, is_collision, is_deadlock
from engram.kernel.models import Workspace
from engram.kernel.refusals import ClosedError, InvalidError, RefusalError, StaleError

log = logging.getLogger(__name__)
CONTENT_TYPE = "application/problem+json"
DATABASE_RETRY_SECONDS = 2


class ProblemError(exceptions.APIException):
    """An error with its own status and detail, raised by views for refusals of services."""

    def __init__(
        self, status_code: int, detail: str, *, errors: list[dict[str, str]] | None = None
    ):
        super().__init__(detail)
        self.status_code = status_code
        self.errors = errors


def document(
    code: int,
    detail: str,
    *,
    errors: list[dict[str, str]] | None = None,
    cause: Cause | None = None,
) -> dict[str, Any]:
    """Return a problem document; the cause defaults to that of the status."""
    cause = cause or OF_STATUS.get(code)
    body: dict[str, Any] = {
        "type": cause.type if cause else "about:blank",
        "title": cause.title if cause else HTTPStatus(code).phrase,
        "status": code,
        "detail": detail,
    }
    if errors:
        body["errors"] = errors
    return body


def field_errors(detail: Any, path: str = "") -> Iterator[dict[str, str]]:
    """Flatten validation errors into `{"field", "message"}`, nested fields joined by dots."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            own = "" if name == "non_field_errors" else str(name)
            yield from field_errors(inner, ".".join(part for part in (path, own) if part))
    elif isinstance(detail, list):
        for position, inner in enumerate(detail):
            is_nested = isinstance(inner, Mapping | list)
            yield from field_errors(inner, f"{path}.{position}".strip(".") if is_nested else path)
    else:
        yield {"field": path, "message": str(detail)}


def _as_refusal(error: Exception) -> Exception:
    """Return the refusal of a request whose workspace was closed after it was let in."""
    if isinstance(error, Workspace.DoesNotExist):
        return ClosedError("This workspace was deleted meanwhile.")
    return error


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the problem document of an exception; None leaves bugs to Django."""
    error = _as_refusal(error)
    headers: dict[str, str] = {}
    errors: list[dict[str, str]] | None = None
    cause: Cause | None = None
    if isinstance(error, Http404):
        code, detail = 404, "There is no such thing here."
    elif isinstance(error, PermissionDenied):
        code, detail = 403, str(error) or "This is not allowed."
    elif isinstance(error, DatabaseError) and is_collision(error):
        # Without the message, which quotes values of rows.
        log.warning("two writers met: %s", "a deadlock" if is_deadlock(error) else "a constraint")
        code, detail, cause = 409, AGAIN, WRITTEN_MEANWHILE
    elif isinstance(error, OperationalError | InterfaceError | PoolTimeout):
        log.error("the database did not answer: %s", error)
        code, detail = 503, "The database is not available right now; try again."
        headers["Retry-After"] = str(DATABASE_RETRY_SECONDS)
    elif isinstance(error, RefusalError):
        cause, detail = error.cause, error.detail
        code = cause.status
        if isinstance(error, InvalidError):
            errors = [{"field": error.field, "message": error.message}]
        elif isinstance(error, StaleError) and error.ids:
            errors = [{"field": "id", "message": changed} for changed in error.ids]
    elif isinstance(error, exceptions.ValidationError):
        errors = list(field_errors(error.detail))
        code, detail = 422, "; ".join(f"{e['field']}: {e['message']}".strip(": ") for e in errors)
    elif isinstance(error, exceptions.APIException):
        code, detail = error.status_code, str(error.detail)
        errors = getattr(error, "errors", None)
        if auth_header := getattr(error, "auth_header", None):
            headers["WWW-Authenticate"] = auth_header
    else:
        return None
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(max(math.ceil(wait), 1))
    return Response(
        document(code, detail, errors=errors, cause=cause),
        status=code,
        headers=headers,
        content_type=CONTENT_TYPE,
    )


def answer_refusal(error: RefusalError) -> Response:
    """Return the response to a refusal, for a view that must not raise it."""
    answer = exception_handler(error, {})
    assert answer is not None  # noqa: S101  every refusal has a response
    return answer


def as_response(code: int, detail: str) -> JsonResponse:
    """Return a problem document outside REST framework (routing, middleware)."""
    return JsonResponse(document(code, detail), status=code, content_type=CONTENT_TYPE)


def wants_problem(request: HttpRequest) -> bool:
    """Return whether the caller is a program that reads problem documents."""
    return request.path.startswith("/api/")
