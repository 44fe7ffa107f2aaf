"""Where the time of calls goes: the embedding, each SQL statement, the rest in Python.

Parts are measured where they happen: the model's pass, every statement that Django sends, the
commit of each transaction. What remains is Python. The watching itself takes some microseconds a
statement.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from engram.kernel import embedding

EMBEDDING, COMMIT, PYTHON = "embedding", "COMMIT", "Python"
_SPACES = re.compile(r"\s+")
_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE)\s+\"?([a-z_]+)\"?", re.IGNORECASE)
TITLE_CHARS = 60


class Profile:
    """The time of each part of some calls, in milliseconds, and how often it ran."""

    def __init__(self) -> None:
        self.calls = 0
        self.elapsed = 0.0
        self.parts: dict[str, list[float]] = defaultdict(list)

    def rows(self) -> dict[str, dict[str, float]]:
        """Return the mean milliseconds a call and runs a call of each part, largest first."""
        calls = max(self.calls, 1)
        spent = {part: sum(found) for part, found in self.parts.items()}
        spent[PYTHON] = self.elapsed - sum(spent.values())
        return {
            part: {
                "ms": round(ms / calls, 2),
                "times": round(len(self.parts.get(part, ())) / calls, 2),
            }
            for part, ms in sorted(spent.items(), key=lambda one: -one[1])
        }

    @property
    def statements(self) -> float:
        """Return the number of statements a call, without the ends of transactions."""
        names = self.parts.keys() - {EMBEDDING, COMMIT}
        return round(sum(len(self.parts[name]) for name in names) / max(self.calls, 1), 1)


def profile(calls: Sequence[Callable[[], object]]) -> Profile:
    """Call each once and measure its parts."""
    found = Profile()
    with _watching(found.parts):
        for call in calls:
            start = time.perf_counter()
            call()
            found.elapsed += (time.perf_counter() - start) * 1000
            found.calls += 1
    return found


@contextmanager
def _watching(parts: dict[str, list[float]]) -> Iterator[None]:
    def execute(run: Callable[..., Any], sql: Any, *rest: Any) -> Any:
        return _timed(parts, _title(str(sql)), run, sql, *rest)

    def commit(self: BaseDatabaseWrapper) -> None:
        _timed(parts, COMMIT, ended, self)

    def read(texts: Sequence[str]) -> Any:
        return _timed(parts, EMBEDDING, embedded, texts)

    provider = embedding._provider()
    ended, embedded = BaseDatabaseWrapper._commit, provider.read
    with ExitStack() as stack:
        stack.enter_context(connection.execute_wrapper(execute))
        stack.enter_context(patch.object(BaseDatabaseWrapper, "_commit", commit))
        stack.enter_context(patch.object(provider, "read", read))
        yield


def _timed(parts: dict[str, list[float]], part: str, run: Callable[..., Any], *given: Any) -> Any:
    start = time.perf_counter()
    try:
        return run(*given)
    finally:
        parts[part].append((time.perf_counter() - start) * 1000)


def _title(sql: str) -> str:
    """Return the kind of a statement, the tables it names, and its beginning."""
    text = _SPACES.sub(" ", sql).strip()
    kind = text.partition(" ")[0].upper()
    tables = dict.fromkeys(found.partition("_")[2] or found for found in _TABLE.findall(text))
    if not tables:
        return text[:TITLE_CHARS] if kind == "SELECT" else kind
    return f"{kind} {', '.join(tables)}"[:TITLE_CHARS]


def percentiles(calls: Sequence[Callable[[], object]]) -> tuple[float, float]:
    """Return the median and the 95th percentile of calls, in milliseconds."""
    samples = []
    for call in calls:
        start = time.perf_counter()
        call()
        samples.append((time.perf_counter() - start) * 1000)
    p50, p95 = np.percentile(samples, [50, 95])
    return float(p50), float(p95)
