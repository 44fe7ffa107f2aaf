"""Where the time of HTTP calls goes: the embedding, each SQL statement, Python, the HTTP stack.

Parts are measured where they happen: the model's pass, or the wait for one in another thread, every
statement that Django sends, the commit of each transaction. What remains is Python within the
service, and outside of it the HTTP stack: key, middleware, JSON. The watching itself takes some
microseconds a statement.
"""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from engram.kernel import embedding

EMBEDDING, COMMIT, PYTHON, HTTP = "embedding", "COMMIT", "Python", "HTTP"
TITLE_CHARS = 60
_SPACES = re.compile(r"\s+")
_SAVEPOINT = re.compile(r"(SAVEPOINT) .*")  # each has a name of its own
_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE|JOIN)\s+\"?([a-z]+_[a-z_]+)", re.IGNORECASE)

Parts = dict[str, list[float]]


class Profile:
    """The milliseconds of each run of each part of some calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.elapsed = 0.0
        self.service = 0.0
        self.inside: Parts = defaultdict(list)  # of the service
        self.outside: Parts = defaultdict(list)
        self._is_inside = False

    def note(self, part: str, milliseconds: float) -> None:
        """Add one run of a part."""
        (self.inside if self._is_inside else self.outside)[part].append(milliseconds)

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Count what happens within the block as inside of the service."""
        start, self._is_inside = time.perf_counter(), True
        try:
            yield
        finally:
            self._is_inside = False
            self.service += (time.perf_counter() - start) * 1000

    def rows(self) -> dict[str, dict[str, float]]:
        """Return the mean milliseconds and the runs a call of each part, the longest first."""
        runs: Parts = defaultdict(list)
        for parts in (self.inside, self.outside):
            for part, found in parts.items():
                runs[part] += found
        spent = {part: sum(found) for part, found in runs.items()}
        spent[PYTHON] = self.service - _total(self.inside)
        spent[HTTP] = self.elapsed - self.service - _total(self.outside)
        calls = max(self.calls, 1)
        return {
            part: {"ms": round(ms / calls, 2), "runs": round(len(runs.get(part, ())) / calls, 1)}
            for part, ms in sorted(spent.items(), key=lambda one: -one[1])
        }

    @property
    def statements(self) -> float:
        """Return the number of statements a call."""
        sent = sum(
            len(found)
            for parts in (self.inside, self.outside)
            for part, found in parts.items()
            if part not in {EMBEDDING, COMMIT}
        )
        return round(sent / max(self.calls, 1), 1)


def profile(calls: Sequence[Callable[[], object]], *, service: tuple[Any, str]) -> Profile:
    """Make each call once and measure its parts; `service` is the function that a view calls."""
    found = Profile()
    with _watching(found, service):
        for call in calls:
            start = time.perf_counter()
            call()
            found.elapsed += (time.perf_counter() - start) * 1000
            found.calls += 1
    return found


def profile_rows(
    title: str, calls: Sequence[Callable[[], object]], *, service: tuple[Any, str]
) -> dict[str, dict[str, float]]:
    """Return the rows of a report: the number of statements, and each part."""
    found = profile(calls, service=service)
    rows: dict[str, dict[str, float]] = {f"{title}: statements": {"runs": found.statements}}
    return rows | {f"{title}: {part}": row for part, row in found.rows().items()}


@contextmanager
def _watching(found: Profile, service: tuple[Any, str]) -> Iterator[None]:
    def timed(part: str, run: Callable[..., Any], *given: Any) -> Any:
        start = time.perf_counter()
        try:
            return run(*given)
        finally:
            found.note(part, (time.perf_counter() - start) * 1000)

    def execute(run: Callable[..., Any], sql: Any, *rest: Any) -> Any:
        return timed(title_of(str(sql)), run, sql, *rest)

    def commit(wrapper: BaseDatabaseWrapper) -> None:
        timed(COMMIT, ended, wrapper)

    def read(texts: Sequence[str]) -> Any:
        if threading.current_thread() is not watched:
            return embedded(texts)  # beside the watched thread, which may wait for it
        return timed(EMBEDDING, embedded, texts)

    def wait(pending: embedding.PendingReading) -> Any:
        return timed(EMBEDDING, waited, pending)

    def serve(*args: Any, **options: Any) -> Any:
        with found.serving():
            return served(*args, **options)

    provider, served = embedding._provider(), getattr(*service)
    ended, embedded = BaseDatabaseWrapper._commit, provider.read
    waited, watched = embedding.PendingReading.result, threading.current_thread()
    with ExitStack() as stack:
        stack.enter_context(connection.execute_wrapper(execute))
        stack.enter_context(patch.object(BaseDatabaseWrapper, "_commit", commit))
        stack.enter_context(patch.object(provider, "read", read))
        stack.enter_context(patch.object(embedding.PendingReading, "result", wait))
        stack.enter_context(patch.object(*service, serve))
        yield


def _total(parts: Parts) -> float:
    return sum(sum(found) for found in parts.values())


def title_of(sql: str) -> str:
    """Return the kind of a statement and the tables that it names."""
    text = _SAVEPOINT.sub(r"\1", _SPACES.sub(" ", sql).strip())
    kind = text.partition(" ")[0].upper()
    tables = ", ".join(dict.fromkeys(found.partition("_")[2] for found in _TABLE.findall(text)))
    return f"{kind} {tables or text[len(kind) :].strip()}"[:TITLE_CHARS]
