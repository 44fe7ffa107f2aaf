"""What to do after an answer, or after none: return it, raise, or send the call again."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar, cast

import httpx

from engram_client._calls import Call
from engram_client.errors import (
    ConnectionFailedError,
    TimedOutError,
    UnexpectedAnswerError,
    problem,
)

T = TypeVar("T")

_LOST_BY_GATEWAYS = {502, 503, 504}
# The request never left: sending it again cannot do it twice.
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_NOT_SENDABLE = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a call is sent, and how long to wait between.

    The wait is random between 0 and `first_wait` seconds, doubled each time up to `longest_wait`,
    and not below `Retry-After`. When the service asks for more than `longest_wait`, the call is
    not sent again. `jitter` returns a number in [0, 1).
    """

    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 30.0
    jitter: Callable[[], float] = random.random


@dataclass(slots=True)
class Attempts(Generic[T]):
    """The attempts of one call."""

    call: Call[T]
    retry: Retry
    made: int = 0
    was_lost: bool = False

    def after_error(self, error: httpx.RequestError) -> float:
        """Return the seconds to wait before the next attempt, or raise."""
        if not isinstance(error, httpx.TransportError):
            raise UnexpectedAnswerError(self._described(error)) from error
        never_sent = isinstance(error, _NEVER_SENT)
        self.was_lost = self.was_lost or not never_sent
        may_repeat = never_sent or self.call.repeatable
        wait = None if isinstance(error, _NOT_SENDABLE) or not may_repeat else self._wait(0.0)
        if wait is not None:
            return wait
        if isinstance(error, httpx.TimeoutException):
            raise TimedOutError(self._described(error)) from error
        raise ConnectionFailedError(self._described(error)) from error

    def after(self, response: httpx.Response) -> float | None:
        """Return the seconds to wait before the next attempt, None for a success, or raise."""
        if response.is_success or self._is_gone(response):
            return None
        document = _document(response)
        seconds = _retry_after(response)
        refused = problem(response.status_code, document, seconds)
        wait = self._wait(seconds or 0.0) if self._is_worth_repeating(response, document) else None
        self.was_lost = self.was_lost or response.status_code in _LOST_BY_GATEWAYS
        if wait is None:
            raise refused
        return wait

    def answer(self, response: httpx.Response) -> T:
        """Return what a success holds."""
        if response.status_code in {204, 404}:
            return cast(T, None)
        try:
            return cast(T, response.json())
        except ValueError as error:
            raise UnexpectedAnswerError(self._described("the answer is not JSON")) from error

    def _described(self, what: object) -> str:
        return f"{self.call.method} {self.call.path}: {what}"

    def _is_gone(self, response: httpx.Response) -> bool:
        """Whether an attempt before, whose answer was lost, has deleted it."""
        return self.call.method == "DELETE" and response.status_code == 404 and self.was_lost

    def _is_worth_repeating(self, response: httpx.Response, document: Mapping[str, Any]) -> bool:
        if response.status_code == 429:
            return True
        if response.status_code == 409:
            return str(document.get("type", "")).endswith("/written-meanwhile")
        return response.status_code in _LOST_BY_GATEWAYS and self.call.repeatable

    def _wait(self, at_least: float) -> float | None:
        """Return the seconds before the next attempt; None: there is none."""
        self.made += 1
        if self.made >= self.retry.attempts or at_least > self.retry.longest_wait:
            return None
        doubled: float = self.retry.first_wait * 2.0 ** (self.made - 1)
        ceiling = min(self.retry.longest_wait, doubled)
        return max(at_least, ceiling * self.retry.jitter())


def _document(response: httpx.Response) -> Mapping[str, Any]:
    try:
        document = response.json()
    except ValueError:
        document = None
    if isinstance(document, dict):
        return document
    return {"detail": response.text[:200]}


def _retry_after(response: httpx.Response) -> float | None:
    """Return the seconds of a Retry-After header, which has seconds or a date."""
    said = response.headers.get("Retry-After", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:9])
    try:
        until = parsedate_to_datetime(said)
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
