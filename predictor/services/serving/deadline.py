"""Run functions in threads with a time limit.

A thread cannot be killed: when the limit passes, it runs on and its result is dropped. The number
of threads is limited, so that functions that never return cost a process only so many; when no
thread is free in time, the function is not started. The threads are daemons and do not delay
shutdown. A function that reads the database opens and closes its own connection.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import BoundedSemaphore, Event, Thread
from time import perf_counter
from typing import Generic, TypeVar

T = TypeVar("T")

MAX_THREADS = 4


class TooSlowError(TimeoutError):
    """Raised when a function did not return in time."""


class Deadline(Generic[T]):
    """A limited number of threads that run functions with a time limit."""

    def __init__(self, threads: int = MAX_THREADS, *, name: str = "scoring"):
        self._threads = threads
        self._name = name
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def run(self, work: Callable[[], T], seconds: float) -> T:
        """Return the result of `work` or raise its error; `TooSlowError` after `seconds`."""
        began = perf_counter()
        if seconds <= 0 or not self._free.acquire(timeout=seconds):
            raise _late("begun", began, seconds)
        answers: list[T] = []
        errors: list[BaseException] = []
        is_done = Event()

        def answer() -> None:
            try:
                answers.append(work())
            except BaseException as error:  # noqa: BLE001  raised again in the waiting thread
                errors.append(error)

        self._start(answer, is_done)
        if not is_done.wait(began + seconds - perf_counter()):
            raise _late("done", began, seconds)
        if errors:
            raise errors[0]
        return answers[0]

    def begin(self, work: Callable[[], object]) -> bool:
        """Start `work` without waiting for it; return whether a thread was free."""
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

    def _reset(self) -> None:
        """Mark all threads as free: a forked process has none of its parent's threads."""
        self._free = BoundedSemaphore(self._threads)


def _late(what: str, began: float, seconds: float) -> TooSlowError:
    spent, limit = perf_counter() - began, max(0.0, seconds)
    return TooSlowError(f"not {what} after {1000 * spent:.0f} ms, {1000 * limit:.0f} ms were left")
