"""Limit the size of request bodies: declared on the view, checked while the body arrives.

A view class (or function) sets `max_body_bytes` and `max_body_values` where its bodies may exceed
BODY_BYTES and BODY_VALUES; `BodyLimit` checks them before Django spools the body to disk, and
`parsing.py` before it parses.
"""

from __future__ import annotations

from typing import Any

from django.urls import Resolver404, resolve

from engram.kernel.asgi_messages import Application, AsgiMessage, Receive, Send, send_problem

BODY_BYTES = 256 * 1024  # enough for 20,000 characters, each escaped as two surrogates
DISCARDED_BYTES = (
    32 * 1024 * 1024
)  # read and discarded of a refused body; beyond, the connection is closed
BODY_VALUES = 10_000  # JSON values: texts, numbers, objects, lists


def max_body_bytes(path: str) -> int:
    """Return the maximum body size of the route of a path."""
    try:
        found = resolve(path).func
    except Resolver404:
        return BODY_BYTES
    return limit_of(getattr(found, "cls", found), "max_body_bytes", BODY_BYTES)


def limit_of(view: Any, name: str, default: int) -> int:
    """Return a limit that a view declares."""
    return int(getattr(view, name, default))


def too_large(max_bytes: int) -> str:
    """Return the error message for a body over the limit."""
    size = f"{max_bytes // 1024} KB" if max_bytes < 1024**2 else f"{max_bytes // 1024**2} MB"
    return f"The body is over {max_bytes} bytes ({size}), which is the limit here."


async def discard(receive: Receive) -> None:
    """Read and discard the rest of a body, because a client reads no response while it sends."""
    left = DISCARDED_BYTES
    while left > 0:
        message = await receive()
        if not message.get("more_body", False):
            return
        left -= len(message.get("body", b""))


async def read_body(headers: dict[bytes, bytes], receive: Receive, max_bytes: int) -> bytes | None:
    """Return a request's body; None if it is larger than `max_bytes`, and its rest is discarded.

    Raises `ConnectionAbortedError` when the client leaves before it has sent all.
    """
    announced = headers.get(b"content-length", b"")
    if announced.isdigit() and int(announced) > max_bytes:
        await discard(receive)
        return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionAbortedError
        body += message.get("body", b"")
        is_last = not message.get("more_body", False)
        if len(body) > max_bytes:
            if not is_last:
                await discard(receive)
            return None
        if is_last:
            return bytes(body)


class _TooLargeError(Exception):
    """The body is over the limit."""


class BodyLimit:
    """ASGI middleware: answers 413 as soon as a body exceeds its route's limit."""

    def __init__(self, application: Application):
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve the request unless its body is too large."""
        announced = dict(scope["headers"]).get(b"content-length", b"")
        received_bytes, is_whole = 0, False
        # The route is only resolved for bodies that may be too large.
        max_bytes = BODY_BYTES

        def is_over(size: int) -> bool:
            nonlocal max_bytes
            if size > max_bytes:
                max_bytes = max_body_bytes(scope["path"])
            return size > max_bytes

        if announced.isdigit() and is_over(int(announced)):
            await discard(receive)
            await self._refuse(send, max_bytes)
            return

        async def bounded_receive() -> AsgiMessage:
            nonlocal received_bytes, is_whole
            message = await receive()
            received_bytes += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if is_over(received_bytes):
                raise _TooLargeError
            return message

        try:
            await self.application(scope, bounded_receive, send)
        except _TooLargeError:
            if not is_whole:  # after the last part a server would wait until the client leaves
                await discard(receive)
            await self._refuse(send, max_bytes)

    async def _refuse(self, send: Send, max_bytes: int) -> None:
        await send_problem(send, 413, too_large(max_bytes), (b"connection", b"close"))
