"""Speaking to the broker without ever waiting long for it: what is lost is found by a sweep."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic

from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

# After a failure nobody knocks for so long.
QUIET_SECONDS = 5.0
FAILURES = (OSError, RedisError, OperationalError, TimeoutError)


class Knocker:
    """Tries, and leaves a broker that does not answer alone for a while."""

    def __init__(self, purpose: str):
        self.purpose = purpose
        self.quiet_until = 0.0

    def __call__(self, send: Callable[[], object], what: str) -> None:
        """Call `send`; a broker that is away costs a warning, never the caller's work."""
        if monotonic() < self.quiet_until:
            return
        try:
            send()
        except FAILURES as error:
            self.quiet_until = monotonic() + QUIET_SECONDS
            log.warning("%s: %s was not sent: %s", self.purpose, what, error)
