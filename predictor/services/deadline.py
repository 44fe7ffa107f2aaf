"""Running numeric work for so long and no longer.

A thread cannot be killed: one whose work outlasts the deadline is left behind, keeps its place
until the work ends, and its answer is thrown away. There are few places, so that work that never
ends costs a process that many threads and no more; when none is free in time, the work is not
begun. The threads are daemons: they hold up no shutdown. The work must not touch the database.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import BoundedSemaphore, Event, Thread
from time import perf_counter
from typing import Generic, TypeVar

T = TypeVar("T")

PLACES = 4


class TooSlowError(TimeoutError):
    """The work was not done in time."""


class Deadline(Generic[T]):
    """Places for work that may be left behind."""

    def __init__(self, places: int = PLACES):
        self._free = BoundedSemaphore(places)

    def run(self, work: Callable[[], T], seconds: float) -> T:
        """Return what the work returns, or raise what it raises; `TooSlowError` when it is late."""
        ends = perf_counter() + seconds
        if seconds <= 0 or not self._free.acquire(timeout=seconds):
            raise TooSlowError
        answers: list[T] = []
        errors: list[BaseException] = []
        is_done = Event()

        def run() -> None:
            try:
                answers.append(work())
            except BaseException as error:  # noqa: BLE001  raised again by who waits
                errors.append(error)
            finally:
                self._free.release()
                is_done.set()

        try:
            Thread(target=run, name="scoring", daemon=True).start()
        except RuntimeError:  # the system gives no more threads
            self._free.release()
            raise
        if not is_done.wait(ends - perf_counter()):
            raise TooSlowError
        if errors:
            raise errors[0]
        return answers[0]
