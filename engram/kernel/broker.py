"""Calling the broker without ever waiting long for it: what is lost is found by a sweep."""

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

# After a failure the broker is left alone for so long.
COOLDOWN_SECONDS = 5.0
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


class BrokerCooldown:
    """Calls the broker, and after a failure leaves it alone for some seconds."""

    def __init__(self, purpose: str):
        self.purpose = purpose
        self.ends_at = 0.0  # by the monotonic clock

    def call(self, send: Callable[[], T], what: str) -> T | None:
        """Call `send`; a broker that is away costs a warning (and None), never the work."""
        if monotonic() < self.ends_at:
            return None
        try:
            return send()
        except FAILURES as error:
            self.ends_at = monotonic() + COOLDOWN_SECONDS
            log.warning("%s: %s was not sent: %s", self.purpose, what, error)
            return None
