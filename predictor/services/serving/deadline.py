"""Running work for so long and no longer.

A thread cannot be killed: one whose work outlasts the deadline is left behind and keeps its place
until the work ends; nobody hears its answer. There are few places, so that work that never ends
costs a process that many threads and no more; when none is free in time, the work is not begun.
The threads are daemons: they hold up no shutdown. Work that reads the database does so by a
connection of its own, which it closes.
"""

from __future__ import annotations

import os
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

    def __init__(self, places: int = PLACES, *, name: str = "scoring"):
        self._places = places
        self._name = name
        self._begin_anew()
        os.register_at_fork(after_in_child=self._begin_anew)

    def run(self, work: Callable[[], T], seconds: float) -> T:
        """Return what the work returns, or raise what it raises; `TooSlowError` when it is late."""
        began = perf_counter()
        if seconds <= 0 or not self._free.acquire(timeout=seconds):
            raise _late("begun", began, seconds)
        answers: list[T] = []
        errors: list[BaseException] = []
        is_done = Event()

        def answer() -> None:
            try:
                answers.append(work())
            except BaseException as error:  # noqa: BLE001  raised again by who waits
                errors.append(error)

        self._start(answer, is_done)
        if not is_done.wait(began + seconds - perf_counter()):
            raise _late("done", began, seconds)
        if errors:
            raise errors[0]
        return answers[0]

    def begin(self, work: Callable[[], object]) -> bool:
        """Begin work that nobody waits for; tell whether a place was free for it."""
        is_begun = self._free.acquire(blocking=False)
        if is_begun:
            self._start(work, Event())
        return is_begun

    def _start(self, work: Callable[[], object], is_done: Event) -> None:
        free = self._free

        def run() -> None:
            try:
                work()
            finally:
                free.release()
                is_done.set()

        try:
            Thread(target=run, name=self._name, daemon=True).start()
        except RuntimeError:  # the system gives no more threads
            free.release()
            raise

    def _begin_anew(self) -> None:
        """Have all places free: a forked process has no thread of its parent's."""
        self._free = BoundedSemaphore(self._places)


def _late(what: str, began: float, seconds: float) -> TooSlowError:
    spent, limit = perf_counter() - began, max(0.0, seconds)
    return TooSlowError(f"not {what} after {1000 * spent:.0f} ms, {1000 * limit:.0f} ms were left")
