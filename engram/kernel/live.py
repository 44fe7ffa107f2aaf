"""Send live events after commit to everybody who watches the workspace."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from queue import Full, Queue
from time import monotonic, sleep
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.db import transaction

from engram.kernel.broker import BrokerCooldown

log = logging.getLogger(__name__)

SEND_TIMEOUT_SECONDS = 1.0
EXIT_TIMEOUT_SECONDS = 2.0
WAITING_MAX = 10_000
GroupMessage = tuple[str, dict[str, Any]]  # group and message


def group_name(workspace_id: UUID) -> str:
    """Return the channel group that carries a workspace's live events."""
    return f"workspace.{workspace_id.hex}"


def publish(
    workspace_id: UUID,
    type: str,  # noqa: A002  the contract's word
    data: Mapping[str, Any],
    *,
    seq: int | None,
    at: datetime,
) -> None:
    """Send an event once the surrounding transaction has committed.

    `data` holds ids, never memory text: readers look the text up, so that nothing forgotten
    travels through (or stays in) the broker. A dead broker costs the live event, not the write:
    clients that reconnect ask for what they missed by `seq`.
    """
    message = {
        "type": "live.event",
        "event": {"type": type, "seq": seq, "at": at.isoformat(), "data": dict(data)},
    }
    transaction.on_commit(lambda: _sender.enqueue((group_name(workspace_id), message)))


class EventSender:
    """Sends messages in order from its own thread, so that no caller waits for the broker.

    The thread keeps one event loop and one connection; it starts with the first message.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: int | None = None
        self._waiting: Queue[GroupMessage] = Queue(WAITING_MAX)
        self._broker = BrokerCooldown("live events")

    def enqueue(self, message: GroupMessage) -> None:
        """Queue a message, or drop it when the queue is full."""
        with self._lock:
            if self._process != os.getpid():  # a forked process does not have its parent's thread
                self._process = os.getpid()
                self._waiting = Queue(WAITING_MAX)
                threading.Thread(
                    target=self._run, args=(self._waiting,), name="live-events", daemon=True
                ).start()
                atexit.register(self._finish, self._waiting)
        try:
            self._waiting.put_nowait(message)
        except Full:
            log.warning("live events: %s was dropped, too many wait", message[1]["event"]["type"])

    def _run(self, waiting: Queue[GroupMessage]) -> None:
        with asyncio.Runner() as runner:
            while True:
                message = waiting.get()
                try:
                    self._broker.call(
                        partial(_send_in, runner, message), message[1]["event"]["type"]
                    )
                except Exception:
                    log.exception("live events: one was not sent")
                finally:
                    waiting.task_done()

    def _finish(self, waiting: Queue[GroupMessage]) -> None:
        """Wait until the last messages are sent, when the process ends."""
        until = monotonic() + EXIT_TIMEOUT_SECONDS
        while waiting.unfinished_tasks and monotonic() < until:
            sleep(0.01)


def _send_in(runner: asyncio.Runner, message: GroupMessage) -> None:
    runner.run(_send(*message))


async def _send(group: str, message: dict[str, Any]) -> None:
    layer = get_channel_layer()
    if layer is not None:
        async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
            await layer.group_send(group, message)


_sender = EventSender()
