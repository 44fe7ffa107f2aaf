"""How much a caller may do in a minute, counted in Redis by all web processes together.

Each call counts as one; a write that takes more than one text, or long ones, counts as what it
costs (`cost_of`, `charge`).
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
from engram.kernel.broker import Knocker, client
from engram.kernel.models import Workspace

WINDOW_SECONDS = 60
CHARS_A_WRITE = 2_000
_knock = Knocker("throttling")


def cost_of(texts: Iterable[str], *, chars_a_write: int = CHARS_A_WRITE) -> int:
    """Return how many writes texts count as: one each, and more where they are long."""
    return sum(max(1, math.ceil(len(text) / chars_a_write)) for text in texts)


def seconds_to_wait(
    workspace: Workspace, actor: Actor, *, is_read: bool, cost: int = 1, counted: int = 0
) -> float | None:
    """Count a call at its cost and return how long the caller must wait, or None when it may go on.

    `counted` is what was counted of it before. A caller's minute begins with its first call. What
    costs more than a whole minute's calls may go on at the beginning of one, which then lasts as
    many minutes as it costs. A Redis that is away limits nobody.
    """
    config = workspace.config
    kind, limit = ("r", config.reads_per_minute) if is_read else ("w", config.writes_per_minute)
    name = f"engram:calls:{workspace.pk.hex}:{actor.kind}:{actor.id}:{kind}"
    more = cost - counted
    found = _knock(lambda: _count(name, more), "a count of calls")
    if found is None:
        return None
    calls, milliseconds_left = found
    if calls <= limit:
        return None
    if limit < cost and calls <= cost:
        minutes = math.ceil(cost / limit)
        _knock(lambda: client().expire(name, minutes * WINDOW_SECONDS), "a count of calls")
        return None
    if counted:  # a refused cost leaves room for smaller calls
        _knock(lambda: client().decrby(name, more), "a count of calls")
    return max(milliseconds_left, 1) / 1000


def wait_for(name: str, limit: int) -> float | None:
    """Count one of what may happen `limit` times a minute; return how long to wait, if at all."""
    found = _knock(lambda: _count(f"engram:{name}"), "a count of calls")
    if found is None or found[0] <= limit:
        return None
    return max(found[1], 1) / 1000


def _count(name: str, cost: int = 1) -> tuple[int, int]:
    """Return the calls of this minute, and the milliseconds that are left of it."""
    pipeline = client().pipeline()
    pipeline.set(name, 0, ex=WINDOW_SECONDS, nx=True)
    pipeline.incrby(name, cost)
    pipeline.pttl(name)
    _, calls, milliseconds_left = pipeline.execute()
    if milliseconds_left < 0:  # it ran out between two of the commands
        client().expire(name, WINDOW_SECONDS)
        milliseconds_left = WINDOW_SECONDS * 1000
    return calls, milliseconds_left


def charge(caller: Caller, cost: int) -> None:
    """Count a write, which counted as one when it came in, at its cost; refuse it over the limit.

    Raises
    ------
    Throttled
        With the seconds to wait, before anything of the call is done.
    """
    if cost <= 1 or caller.is_exempt_from_throttle:
        return
    seconds = seconds_to_wait(caller.workspace, caller.actor, is_read=False, cost=cost, counted=1)
    if seconds is not None:
        limit = caller.workspace.config.writes_per_minute
        raise Throttled(
            seconds,
            f"This call counts as {cost} writes, and fewer are left of the {limit} of this minute.",
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
