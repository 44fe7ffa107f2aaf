"""Exceptions: what the service refuses, and what happens on the way to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class EngramError(Exception):
    """Anything that this client raises about a call."""


class ConnectionFailedError(EngramError):
    """The service was not reached, or its answer was lost, also when sent again."""


class TimedOutError(ConnectionFailedError):
    """No answer came in time, also when sent again."""


class UnexpectedAnswerError(EngramError):
    """The answer is not one of Engram's, for example a proxy's page."""


class ProblemError(EngramError):
    """The service refused the call with a problem document.

    `cause` is stable and meant for programs (`session-key-taken`), `title` says it in a few words,
    `detail` describes the case for people, and `errors` names the fields that are wrong.
    `retry_after` is in seconds; None: the service did not say.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: float | None = None):
        self.status = status
        self.type = str(problem.get("type") or "")
        self.cause = self.type.rpartition("/")[2]
        self.title = str(problem.get("title") or f"HTTP {status}")
        self.detail = str(problem.get("detail") or "")
        listed = problem.get("errors")
        listed = listed if isinstance(listed, list) else []
        self.errors: list[dict[str, str]] = [one for one in listed if isinstance(one, dict)]
        self.retry_after = retry_after
        fields = "; ".join(f"{e.get('field')}: {e.get('message')}" for e in self.errors)
        said = ": ".join(part for part in (self.title, self.detail) if part)
        super().__init__(f"{status} {said}" + (f" ({fields})" if fields else ""))


class MalformedError(ProblemError):
    """400: the request is not valid JSON."""


class NotAuthenticatedError(ProblemError):
    """401: the key is missing, unknown, expired or revoked."""


class NotAllowedError(ProblemError):
    """403: the key's role does not allow this."""


class NotFoundError(ProblemError):
    """404: nothing in the key's workspace has this address."""


class ConflictError(ProblemError):
    """409: the state of what is asked for does not allow it; see `cause`."""


class TooLargeError(ProblemError):
    """413: the body is larger than the operation reads."""


class InvalidError(ProblemError):
    """422: a field or parameter is wrong; see `errors`."""


class TooManyRequestsError(ProblemError):
    """429: wait `retry_after` seconds."""


class ServerError(ProblemError):
    """500 and above: the service failed, or cannot answer now."""


_BY_STATUS: dict[int, type[ProblemError]] = {
    400: MalformedError,
    401: NotAuthenticatedError,
    403: NotAllowedError,
    404: NotFoundError,
    409: ConflictError,
    413: TooLargeError,
    422: InvalidError,
    429: TooManyRequestsError,
}


def problem(status: int, document: Mapping[str, Any], retry_after: float | None) -> ProblemError:
    """Return the exception for a refused call."""
    kind = ServerError if status >= 500 else _BY_STATUS.get(status, ProblemError)
    return kind(status, document, retry_after)
