"""Call the broker with short timeouts; sweeps find work whose message was lost."""

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

# After a failure the broker is not called for so long.
COOLDOWN_SECONDS = 5.0
# A local Redis answers in a tenth of a millisecond; a caller waits no longer for one that fails.
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
    """Calls the broker; after a failure it makes no call for some seconds."""

    def __init__(self, purpose: str):
        self.purpose = purpose
        self.ends_at = 0.0  # by the monotonic clock

    def call(self, send: Callable[[], T], what: str) -> T | None:
        """Call `send` and return its result; log a warning and return None on failure."""
        if monotonic() < self.ends_at:
            return None
        try:
            return send()
        except FAILURES as error:
            self.ends_at = monotonic() + COOLDOWN_SECONDS
            log.warning("%s: %s was not sent: %s", self.purpose, what, error)
            return None
