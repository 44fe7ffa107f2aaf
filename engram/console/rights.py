"""Check the rights of watchers, with one query for all sockets of a watcher."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final
from weakref import WeakValueDictionary

from channels.db import database_sync_to_async
from django.utils import timezone

from engram.console.watchers import Identity, Watcher

# The maximum age of a check for an idle socket. An event is sent only after a check that began
# after its arrival, so that an earlier revocation is seen.
VALID_SECONDS: Final = 2.0


class Right:
    """The right of one watcher, shared by its sockets in this process."""

    def __init__(self) -> None:
        self._began = float("-inf")
        self._check: asyncio.Future[bool] | None = None

    async def holds_since(self, earliest: float, watcher: Watcher) -> bool:
        """Return the result of a check that began at `earliest` or later; start one if needed."""
        if self._check is None or self._began < earliest:
            self._began = monotonic()
            may_stay = database_sync_to_async(watcher.may_stay, thread_sensitive=False)
            self._check = asyncio.ensure_future(may_stay(timezone.now()))
        # A socket that closes meanwhile must not cancel the check of the others.
        return await asyncio.shield(self._check)


RightsKey = tuple[asyncio.AbstractEventLoop, Identity]
_rights: WeakValueDictionary[RightsKey, Right] = WeakValueDictionary()


def right_of(watcher: Watcher) -> Right:
    """Return the shared right of a watcher; it exists as long as one of its sockets."""
    return _rights.setdefault((asyncio.get_running_loop(), watcher.identity), Right())
