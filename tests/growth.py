"""How the work of a function grows with the length of what it is given."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import sleep, thread_time
from typing import TypeVar

# Four times the text is four times the work where it is linear, sixteen times where quadratic.
FACTOR = 4
MOST_GROWTH = 9.0
LEAST_SECONDS = 50e-6  # less is measured too roughly to be a base
CUT_GROWTH = 40.0  # what takes longer is not waited for
CUT_SECONDS = 2.0  # of processor time, for the shorter length
ATTEMPTS = 5
# A machine whose processors are lent elsewhere counts that as processor time: what takes only a
# moment is tried more often, after pauses.
FURTHER_ATTEMPTS = 20
MOMENT_SECONDS = 5e-3
PAUSE_SECONDS = 0.1


T = TypeVar("T")


class _CutError(Exception):
    """The work took longer than it may."""


@contextmanager
def _cut_after(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _CutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def growth(make: Callable[[int], T], work: Callable[[T], object], length: int) -> float:
    """Return by how much the work grows from a length to `FACTOR` times of it.

    Parameters
    ----------
    make : given a length, makes what is worked on.
    work : what is measured.
    length : the shorter length.

    Measured is the processor time of this thread, the least of several repetitions, so that a busy
    machine makes no difference. It is repeated only while the growth looks too large; where even
    the longer length takes no time that can be measured well, the shorter one is not measured.
    """
    quick = MOST_GROWTH * LEAST_SECONDS
    long = _seconds(partial(work, make(FACTOR * length)), quick)
    if long < quick:
        return long / LEAST_SECONDS
    short = long = float("inf")
    for attempt in range(ATTEMPTS + FURTHER_ATTEMPTS):
        if attempt >= ATTEMPTS:
            if short > MOMENT_SECONDS:
                break
            sleep(PAUSE_SECONDS)
        short = min(short, _seconds(partial(work, make(length)), CUT_SECONDS))
        if short >= CUT_SECONDS:  # the longer one would be waited for 40 times as long
            return float("inf")
        base = max(short, LEAST_SECONDS)
        long = min(long, _seconds(partial(work, make(FACTOR * length)), CUT_GROWTH * base))
        if long < MOST_GROWTH * base:
            break
    return long / max(short, LEAST_SECONDS)


def _seconds(work: Callable[[], object], most: float) -> float:
    """Return the processor time of some work, at most a number of seconds.

    Garbage of the whole test process is not collected meanwhile: it would count, and what is raised
    to cut the work is lost in a finalizer.
    """
    was_collected = gc.isenabled()
    gc.disable()
    started = thread_time()
    try:
        with _cut_after(most):
            work()
    except _CutError:
        return most
    finally:
        if was_collected:
            gc.enable()
    return min(most, thread_time() - started)
