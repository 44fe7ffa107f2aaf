"""The websocket of live events of a workspace."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine
from functools import partial
from math import ceil
from time import monotonic
from typing import Any, TypeVar
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import OperationalError
from django.utils import timezone
from psycopg_pool import PoolTimeout
from redis.exceptions import RedisError
from rest_framework.exceptions import ParseError

from engram.console import feed, watchers
from engram.console.rights import VALID_SECONDS, right_of
from engram.kernel.literals import MAX_BIGINT
from engram.kernel.live import group_name
from engram.kernel.parsing import parse_json
from engram.kernel.tenancy import in_workspace
from engram.kernel.throttling import wait_for

T = TypeVar("T")

UNAUTHENTICATED = 4401
TRY_AGAIN_LATER = 1013
POLICY_VIOLATION = 1008
MAX_FRAME_BYTES = 64 * 1024
# The number of invalid frames that closes a connection.
MAX_ERRORS = 20
BATCH = 100
# How often per minute one key or person may request missed events, over all connections: one
# response may be five hundred events with their texts.
CATCH_UPS_PER_MINUTE = 30
RIGHT_ENDED = "The right to watch has ended."
NOT_READY = "The service is not ready; try again."


class FrameError(Exception):
    """A client sent an invalid frame."""


class LiveConsumer(AsyncWebsocketConsumer):
    """Sends a workspace's events; takes `{"key": …}` first, and `{"seq": n}` to catch up."""

    heartbeat_seconds = 20.0
    # How often the right to watch of an idle connection is checked; also checked before each event.
    check_seconds = 2.5
    sign_in_seconds = 10.0
    # Events within this time are looked up together.
    gather_seconds = 0.02

    async def connect(self) -> None:
        """Accept a session or key of the handshake; other clients must send a key soon after."""
        self.watcher: watchers.Watcher | None = None
        self.errors = 0
        self.is_over = False
        self.pending: list[dict[str, Any]] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self.flushing: asyncio.Task[None] | None = None
        await self.accept()
        token = watchers.bearer(self.scope)
        try:
            if token is not None:
                await self._admit(await _database(watchers.by_key, token, timezone.now()))
                return
            watcher = await _database(watchers.by_session, self.scope)
        except (OperationalError, PoolTimeout, OSError, RedisError):
            await self._fail(NOT_READY, TRY_AGAIN_LATER)
            return
        if watcher is not None:
            await self._admit(watcher)
        else:
            self._spawn(self._wait_for_key())

    async def disconnect(self, code: int) -> None:
        """Release the connection's resources."""
        for task in list(self.tasks):
            if task is not asyncio.current_task():
                task.cancel()
        if self.watcher is not None:
            with contextlib.suppress(OSError, RedisError):
                await self.channel_layer.group_discard(
                    group_name(self.watcher.workspace_id), self.channel_name
                )

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Answer one frame; an invalid one gets an error message."""
        if self.is_over:  # frames can arrive after the connection was closed
            return
        try:
            frame = _parse(text_data, bytes_data)
            if "key" in frame:
                await self._take_key(frame["key"])
            elif self.watcher is None:
                raise FrameError('Send {"key": "egr_…"} first.')
            if "seq" in frame and self.watcher is not None:
                await self._catch_up(frame["seq"], self.watcher)
        except FrameError as error:
            await self._complain(str(error))
        except (OperationalError, PoolTimeout, OSError, RedisError):
            await self._complain(NOT_READY)

    async def live_event(self, message: dict[str, Any]) -> None:
        """Queue an event from the broker; texts are looked up for several at once."""
        if self.is_over:
            return
        self.pending.append(message["event"])
        self.heard_at = monotonic()
        if self.flushing is None or self.flushing.done():
            self.flushing = self._spawn(self._flush())

    # Signing in

    async def _take_key(self, token: str) -> None:
        if self.watcher is not None:
            raise FrameError("This connection is signed in already.")
        await self._admit(await _database(watchers.by_key, token, timezone.now()))

    async def _admit(self, watcher: watchers.Watcher | None) -> None:
        if watcher is None:
            await self._fail("The key is unknown, revoked or expired.", UNAUTHENTICATED)
            return
        await self.channel_layer.group_add(group_name(watcher.workspace_id), self.channel_name)
        self.watcher, self.right = watcher, right_of(watcher)
        seq = await _database(_within, watcher.workspace_id, feed.last_seq)
        await self._send("live.ready", seq=seq)
        self._spawn(self._beat(watcher))

    async def _wait_for_key(self) -> None:
        await asyncio.sleep(self.sign_in_seconds)
        if self.watcher is None:
            await self._fail("Nobody signed in.", UNAUTHENTICATED)

    async def _beat(self, watcher: watchers.Watcher) -> None:
        """Send heartbeats, and close the connection once the right to watch has ended."""
        told_at = monotonic()
        while True:
            await asyncio.sleep(min(self.check_seconds, self.heartbeat_seconds))
            try:
                may_stay = await self.right.holds_since(monotonic() - VALID_SECONDS, watcher)
            except (OperationalError, PoolTimeout):
                continue  # The check failed; the client notices the missing heartbeat.
            if not may_stay:
                await self._end()
                return
            if monotonic() - told_at >= self.heartbeat_seconds:
                told_at = monotonic()
                await self._send("heartbeat")

    # Sending

    async def _flush(self) -> None:
        while self.pending and self.watcher is not None:
            await asyncio.sleep(self.gather_seconds)
            batch, self.pending = self.pending[:BATCH], self.pending[BATCH:]
            try:
                events = await self._as_allowed(
                    self.watcher, partial(feed.with_texts, batch), self.heard_at
                )
            except (OperationalError, PoolTimeout):
                # The check failed; the client reconnects and catches up by seq.
                await self._fail(NOT_READY, TRY_AGAIN_LATER)
                return
            if events is None:
                await self._end()
                return
            for event in events:
                await self.send(json.dumps(event))

    async def _catch_up(self, seq: int, watcher: watchers.Watcher) -> None:
        seconds = await _database(wait_for, f"catch-ups:{watcher.name}", CATCH_UPS_PER_MINUTE)
        if seconds is not None:
            wait = ceil(seconds)
            text = f"You may ask for what you missed {CATCH_UPS_PER_MINUTE} times a minute."
            await self._complain(f"{text} Wait {wait} s.", retry_after_seconds=wait)
            return
        found = await self._as_allowed(watcher, lambda: feed.since(seq), monotonic())
        if found is None:
            await self._end()
            return
        messages, is_truncated = found
        if is_truncated:
            await self._send("catch_up.truncated", data={"limit": feed.CATCH_UP_ROWS})
        for message in messages:
            await self.send(json.dumps(message))
        await self._send("catch_up.done", seq=messages[-1]["seq"] if messages else seq)

    async def _as_allowed(
        self, watcher: watchers.Watcher, read: Callable[[], T], asked_at: float
    ) -> T | None:
        """Read within the watcher's workspace; None if the right to watch has ended."""
        if not await self.right.holds_since(asked_at, watcher):
            return None
        return await _database(_within, watcher.workspace_id, read)

    async def _send(
        self,
        type: str,  # noqa: A002  the contract's word
        *,
        seq: int | None = None,
        data: dict[str, Any] | None = None,
    ) -> None:
        body = {"type": type, "seq": seq, "at": timezone.now().isoformat(), "data": data or {}}
        await self.send(json.dumps(body))

    async def _end(self) -> None:
        """Close; pending events are not sent."""
        self.is_over = True
        self.pending.clear()
        await self._fail(RIGHT_ENDED, UNAUTHENTICATED)

    async def _complain(self, detail: str, **more: Any) -> None:
        self.errors += 1
        await self._send("error", data={"detail": detail, **more})
        if self.watcher is None:
            await self._close(UNAUTHENTICATED)
        elif self.errors >= MAX_ERRORS:
            await self._close(POLICY_VIOLATION)

    async def _fail(self, detail: str, code: int) -> None:
        await self._send("error", data={"detail": detail})
        await self._close(code)

    async def _close(self, code: int) -> None:
        self.is_over = True
        await self.close(code)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a coroutine as a task and keep a reference to it."""
        task = asyncio.create_task(_while_connected(work))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task


async def _while_connected(work: Coroutine[Any, Any, None]) -> None:
    """Run until the client has disconnected: sending fails before `disconnect` is called."""
    with contextlib.suppress(OSError):
        await work


class NoSuchSocket(AsyncWebsocketConsumer):
    """Refuses unknown websocket paths."""

    async def connect(self) -> None:
        """Refuse the handshake."""
        await self.close()


def _parse(text: str | None, binary: bytes | None) -> dict[str, Any]:
    """Return a frame's fields, validated."""
    if text is None or binary:
        raise FrameError("Binary frames are not understood; send JSON text.")
    if len(text) > MAX_FRAME_BYTES or len(text.encode("utf-8", "replace")) > MAX_FRAME_BYTES:
        raise FrameError(f"A frame may have {MAX_FRAME_BYTES} bytes.")
    try:
        frame = parse_json(text)
    except ParseError as error:
        raise FrameError(str(error.detail)) from None
    if not isinstance(frame, dict) or not frame:
        raise FrameError('Send a JSON object: {"key": "egr_…"} or {"seq": 812}.')
    if unknown := sorted(set(frame) - {"key", "seq"}):
        raise FrameError(f"Unknown field: {unknown[0][:60]}.")
    if "key" in frame and not isinstance(frame["key"], str):
        raise FrameError("key must be a string.")
    seq = frame.get("seq", 0)
    if isinstance(seq, bool) or not isinstance(seq, int) or not 0 <= seq <= MAX_BIGINT:
        raise FrameError("seq must be a whole number from 0.")
    return frame


async def _database(work: Callable[..., T], *arguments: Any) -> T:
    """Run database work in a thread with its own connection."""
    result: T = await database_sync_to_async(work, thread_sensitive=False)(*arguments)
    return result


def _within(workspace_id: UUID, read: Callable[[], T]) -> T:
    """Read within a workspace."""
    with in_workspace(workspace_id):
        return read()
