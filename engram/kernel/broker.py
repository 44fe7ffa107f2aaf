"""Speaking to the broker without ever waiting long for it: what is lost is found by a sweep."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import lru_cache
from time import monotonic
from typing import TypeVar

import redis
from django.conf import settings
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

# After a failure nobody knocks for so long.
QUIET_SECONDS = 5.0
# A local Redis answers in a tenth of a millisecond; a caller waits for a sick one no longer.
ANSWER_SECONDS = 0.5
FAILURES = (OSError, RedisError, OperationalError, TimeoutError)

T = TypeVar("T")


@lru_cache(maxsize=1)
def client() -> redis.Redis:
    """Return this process's Redis client; its pool connects when first used."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=ANSWER_SECONDS, socket_timeout=ANSWER_SECONDS
    )


class Knocker:
    """Tries, and leaves a broker that does not answer alone for a while."""

    def __init__(self, purpose: str):
        self.purpose = purpose
        self.quiet_until = 0.0

    def __call__(self, send: Callable[[], T], what: str) -> T | None:
        """Call `send`; a broker that is away costs a warning (and None), never the work."""
        if monotonic() < self.quiet_until:
            return None
        try:
            return send()
        except FAILURES as error:
            self.quiet_until = monotonic() + QUIET_SECONDS
            log.warning("%s: %s was not sent: %s", self.purpose, what, error)
            return None
