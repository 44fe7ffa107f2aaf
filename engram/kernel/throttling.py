"""How much a caller may do in a minute, counted in Redis by all web processes together.

Each caller has a token bucket: it holds a minute's calls at most and refills at that rate. Each
call takes one; a write that takes more than one text, or long ones, takes what it costs (`cost_of`,
`charge`). A call may go on while one is left, and takes its whole cost even where that leaves a
debt: whatever it costs, it passes as soon as the bucket is no longer empty.
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

# Returns the milliseconds to wait: 0 when the call may go on. What was counted of a call before is
# its own, so that it is not refused for it. A full bucket is forgotten.
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
    """Return how many writes texts count as: one each, and more where they are long."""
    return sum(max(1, math.ceil(len(text) / chars_a_write)) for text in texts)


def seconds_to_wait(
    workspace: Workspace, actor: Actor, *, is_read: bool, cost: int = 1, counted: int = 0
) -> float | None:
    """Count a call at its cost and return how long the caller must wait, or None when it may go on.

    `counted` is what was counted of it before.
    """
    config = workspace.config
    kind, limit = ("r", config.reads_per_minute) if is_read else ("w", config.writes_per_minute)
    name = f"calls:{workspace.pk.hex}:{actor.kind}:{actor.id}:{kind}"
    return wait_for(name, limit, cost=cost, counted=counted)


def wait_for(name: str, limit: int, *, cost: int = 1, counted: int = 0) -> float | None:
    """Count what may happen `limit` times a minute; return how long to wait, if at all.

    A Redis that is away limits nobody.
    """
    milliseconds = _broker.call(
        lambda: int(client().eval(_TAKE, 1, f"engram:bucket:{name}", limit, cost, counted)),
        "a count of calls",
    )
    return milliseconds / 1000 if milliseconds else None


def charge(caller: Caller, cost: int) -> None:
    """Count a write, which counted as one when it came in, at its cost.

    Raises
    ------
    Throttled
        With the seconds to wait, before anything of the call is done: another call that came in at
        the same time has left a debt.
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
        """Tell whether the caller may go on."""
        caller = request.user
        if not isinstance(caller, Caller) or caller.is_exempt_from_throttle:
            return True
        is_read = view.is_read(request.method)
        self.seconds = seconds_to_wait(caller.workspace, caller.actor, is_read=is_read)
        return self.seconds is None

    def wait(self) -> float | None:
        """Return the seconds until the caller may try again."""
        return self.seconds
