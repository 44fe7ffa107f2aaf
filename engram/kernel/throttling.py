"""How much a caller may do in a minute, counted in Redis by all web processes together."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from engram.kernel.actors import Actor
from engram.kernel.authentication import Caller
from engram.kernel.broker import Knocker, client
from engram.kernel.models import Workspace

WINDOW_SECONDS = 60
_knock = Knocker("throttling")


def seconds_to_wait(workspace: Workspace, actor: Actor, *, is_read: bool) -> float | None:
    """Count one call and return how long the caller must wait, or None when it may go on.

    A caller's minute begins with its first call. A Redis that is away limits nobody.
    """
    config = workspace.config
    kind, limit = ("r", config.reads_per_minute) if is_read else ("w", config.writes_per_minute)
    name = f"engram:calls:{workspace.pk.hex}:{actor.kind}:{actor.id}:{kind}"
    counted = _knock(lambda: _count(name), "a count of calls")
    if counted is None:
        return None
    calls, milliseconds_left = counted
    return None if calls <= limit else max(milliseconds_left, 1) / 1000


def _count(name: str) -> tuple[int, int]:
    """Return the calls of this minute, and the milliseconds that are left of it."""
    pipeline = client().pipeline()
    pipeline.set(name, 0, ex=WINDOW_SECONDS, nx=True)
    pipeline.incr(name)
    pipeline.pttl(name)
    _, calls, milliseconds_left = pipeline.execute()
    if milliseconds_left < 0:  # it ran out between two of the commands
        client().expire(name, WINDOW_SECONDS)
        milliseconds_left = WINDOW_SECONDS * 1000
    return calls, milliseconds_left


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
