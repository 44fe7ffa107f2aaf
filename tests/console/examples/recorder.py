"""Sends the calls of a story to the API and keeps each with its answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any
from unittest import mock
from urllib.parse import quote

import numpy as np

from conflicts.core.comparisons import KeptAnswers
from tests.conftest import Caller

BASE = "/api/v1"
PAUSE = timedelta(minutes=1)  # between two calls
Call = dict[str, Any]


@dataclass
class Clock:
    """The time of the story: it passes between calls only."""

    moment: datetime

    def now(self) -> datetime:
        """Return the time."""
        return self.moment

    def timestamp(self) -> float:
        """Return the time in seconds."""
        return self.moment.timestamp()

    def pass_by(self, **span: float) -> None:
        """Let time pass."""
        self.moment += timedelta(**span)


@contextmanager
def reproducible(clock: Clock, seed: int) -> Iterator[None]:
    """Let time, ids, keys and draws be the same in every recording."""
    source, default_rng = Random(seed), np.random.default_rng
    with ExitStack() as stack:
        stack.enter_context(mock.patch("django.utils.timezone.now", clock.now))
        stack.enter_context(mock.patch("os.urandom", source.randbytes))
        # With what earlier tests compared, a transaction is not repeated, and draws fewer ids.
        stack.enter_context(mock.patch("conflicts.core.comparisons.KEPT", KeptAnswers()))
        stack.enter_context(mock.patch("engram.kernel.latency.time", clock.timestamp))
        nanoseconds = lambda: int(clock.timestamp() * 1e9)  # noqa: E731
        stack.enter_context(mock.patch("engram.kernel.ids.time_ns", nanoseconds))
        stack.enter_context(mock.patch("engram.kernel.ids._last", 0))
        stack.enter_context(
            mock.patch("numpy.random.default_rng", lambda given=seed: default_rng(given))
        )
        yield


@dataclass
class Recorder:
    """Sends calls, a minute apart, and keeps those that have something to show."""

    paths: list[str]  # of the API's description
    clock: Clock
    calls: list[Call] = field(default_factory=list)

    def send(
        self,
        caller: Caller,
        operation: str,
        body: Any = None,
        *,
        summary: str = "",
        status: int = 200,
        query: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        **names: Any,
    ) -> Any:
        """Send `METHOD /path/{name}` with `names` in the path; keep it when it has a summary.

        Return what was answered; any other status than the one given is an error of the story.
        """
        method, _, template = operation.partition(" ")
        assert BASE + template in self.paths, operation
        path = template.format(**{name: quote(str(v), safe="") for name, v in names.items()})
        self.clock.moment += PAUSE
        sent = body if method != "GET" else query
        answer = caller._send(method.lower(), BASE + path, sent, headers or {})
        assert answer.status_code == status, (operation, answer.status_code, answer.content)
        response = answer.json() if answer.content else None
        if summary:
            call = {
                "operation": operation,
                "summary": summary,
                "path": {name: str(v) for name, v in names.items()},
                "query": query or {},
                "headers": headers or {},
                "body": body,
                "status": status,
                "response": response,
            }
            self.calls.append({k: v for k, v in call.items() if v not in ({}, None)})
        return response


UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# Texts that differ by what the database has seen before, by the processor or by chance.
STABLE = (
    (re.compile(r"egr_[\w-]{6,}"), "egr_…"),
    (re.compile(r"whsec_[\w+/=]{6,}"), "whsec_…"),
    (re.compile(r"(?<=[?&]cursor=)[^&]+"), "cD00Nw%3D%3D"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "5f" * 32),
    (re.compile("http://testserver"), "https://engram.example.com"),
)
# What differs by machine and moment, though the time of the story stands still.
MEASURED: dict[str, Any] = {
    "took_ms": 12,
    "duration_ms": 240,
    "duration_seconds": 0.24,
    "cpu_ms": 80,
    "free_bytes": 80_000_000_000,
    "used_bytes": 40_000_000,
    "database_bytes": 40_000_000,
}
LIST_MAX = 4  # a longer list says nothing more


@dataclass
class Normaliser:
    """Makes what was recorded the same each time: ids by order, measured times by one value."""

    first_seq: int  # of the story's events: other stories may have come before
    ids: dict[str, str] = field(default_factory=dict)

    def of(self, value: Any, name: str = "") -> Any:
        """Return a value with everything in it made stable; long lists are cut."""
        if value is not None and name in MEASURED:
            return MEASURED[name]
        if isinstance(value, dict):
            return {self._text(key): self.of(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.of(inner) for inner in value[:LIST_MAX]]
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int) and name in {"seq", "id"}:
            return value - self.first_seq + 1 if name == "seq" else 1
        return round(value, 3) if isinstance(value, float) else value

    def _text(self, text: str) -> str:
        for pattern, stable in STABLE:
            text = pattern.sub(stable, text)
        return UUID.sub(lambda found: self._id(found[0]), text)

    def _id(self, found: str) -> str:
        return self.ids.setdefault(found, f"00000000-0000-4000-8000-{len(self.ids) + 1:012x}")
