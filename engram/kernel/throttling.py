"""Rate limits of callers, counted in Redis for all web processes together.

Each caller has a token bucket with a minute's calls that refills at that rate. A call takes one
token; a write of several or long texts takes its cost (`cost_of`, `charge`). A call passes while at
least one token is left, and takes its whole cost even if the balance becomes negative.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from engram.kernel.actors import Actor
from engram.kernel.authentication import Caller
from engram.kernel.broker import BrokerCooldown, client
from engram.kernel.models import Workspace

CHARS_A_WRITE = 2_000
_broker = BrokerCooldown("throttling")

# Returns the milliseconds to wait: 0 when the call passes. `counted` is what this call has taken
# already, so that it is not refused for its own cost. A full bucket expires.
_TAKE = """
    local limit, cost, counted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local kept = redis.call('HMGET', KEYS[1], 'left', 'at')
    local left = limit
    if kept[1] then
        local passed = math.max(0, now - kept[2])
        left = math.min(limit, kept[1] + passed * limit / 60000)
    end
    if left + counted < 1 then
        return math.ceil((1 - left) * 60000 / limit)
    end
    left = left - (cost - counted)
    redis.call('HSET', KEYS[1], 'left', string.format('%.6f', left), 'at', now)
    redis.call('PEXPIRE', KEYS[1], math.max(1, math.ceil((limit - left) * 60000 / limit)))
    return 0
"""


def cost_of(texts: Iterable[str], *, chars_a_write: int = CHARS_A_WRITE) -> int:
    """Return the cost of texts in writes: one each, and more for long texts."""
    return sum(max(1, math.ceil(len(text) / chars_a_write)) for text in texts)


def seconds_to_wait(
    workspace: Workspace, actor: Actor, *, is_read: bool, cost: int = 1, counted: int = 0
) -> float | None:
    """Count a call at its cost; return the seconds to wait, or None if it passes.

    `counted` is the part of its cost that was counted before.
    """
    config = workspace.config
    kind, limit = ("r", config.reads_per_minute) if is_read else ("w", config.writes_per_minute)
    name = f"calls:{workspace.pk.hex}:{actor.kind}:{actor.id}:{kind}"
    return wait_for(name, limit, cost=cost, counted=counted)


def wait_for(name: str, limit: int, *, cost: int = 1, counted: int = 0) -> float | None:
    """Count an action limited to `limit` per minute; return the seconds to wait, or None.

    Without Redis there is no limit.
    """
    milliseconds = _broker.call(
        lambda: int(client().eval(_TAKE, 1, f"engram:bucket:{name}", limit, cost, counted)),
        "a count of calls",
    )
    return milliseconds / 1000 if milliseconds else None


def charge(caller: Caller, cost: int) -> None:
    """Count a write, which was counted as one on arrival, at its full cost.

    Raises ------ Throttled With the seconds to wait, before any work, if a concurrent call has
    overdrawn the bucket.
    """
    if cost <= 1 or caller.is_exempt_from_throttle:
        return
    seconds = seconds_to_wait(caller.workspace, caller.actor, is_read=False, cost=cost, counted=1)
    if seconds is not None:
        limit = caller.workspace.config.writes_per_minute
        raise Throttled(
            seconds, f"This call counts as {cost} writes, and none is left of {limit} a minute."
        )


class PerCaller(BaseThrottle):
    """Refuses a caller's calls over the workspace's limits (429 with `Retry-After`)."""

    seconds: float | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        """Return whether the call passes."""
        caller = request.user
        if not isinstance(caller, Caller) or caller.is_exempt_from_throttle:
            return True
        is_read = view.is_read(request.method)
        self.seconds = seconds_to_wait(caller.workspace, caller.actor, is_read=is_read)
        return self.seconds is None

    def wait(self) -> float | None:
        """Return the seconds to wait."""
        return self.seconds
