"""Whether a holder is alive, by when it was last heard of.

A heartbeat far ahead is one of a clock that went back: were it believed, nobody would take over
until the clock has caught up.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import Error, connections
from psycopg_pool import PoolTimeout

log = logging.getLogger(__name__)

BEAT_SECONDS = 5.0


@contextmanager
def beating(beat: Callable[[], object]) -> Iterator[None]:
    """Call `beat` every few seconds while the block runs, however long one of its steps takes.

    It is called in a thread with a connection of its own, that knows neither a workspace nor a
    transaction of the block's.
    """
    ended = threading.Event()
    thread = threading.Thread(target=_beat_until, args=(ended, beat), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=BEAT_SECONDS)


def _beat_until(ended: threading.Event, beat: Callable[[], object]) -> None:
    while not ended.wait(BEAT_SECONDS):
        try:
            beat()
        except (Error, PoolTimeout) as error:  # the next one may reach it
            log.warning("a heartbeat was not written: %s", type(error).__name__)
        finally:
            connections.close_all()  # this thread's alone; the pool has it back


def living(now: datetime, silence: timedelta) -> tuple[datetime, datetime]:
    """Return the range of the heartbeats of who is alive, for `heartbeat_at__range`."""
    return now - silence, now + silence


def is_alive(beat_at: datetime | None, now: datetime, silence: timedelta) -> bool:
    """Tell whether who was heard of then is alive."""
    first, last = living(now, silence)
    return beat_at is not None and first <= beat_at <= last
