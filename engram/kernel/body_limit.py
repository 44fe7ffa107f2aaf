"""Refuses bodies that are too large while they arrive, before anything spools them to disk."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from engram.kernel.problems import CONTENT_TYPE, document

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


class _TooLargeError(Exception):
    """More arrived than is allowed."""


class BodyLimit:
    """ASGI middleware: answers 413 as soon as a body is known to be over the limit."""

    def __init__(self, application: Application, *, max_bytes: int):
        self.application = application
        self.max_bytes = max_bytes

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve the request unless its body is too large."""
        announced = dict(scope["headers"]).get(b"content-length", b"")
        if announced.isdigit() and int(announced) > self.max_bytes:
            await self._refuse(send)
            return
        received_bytes = 0

        async def bounded_receive() -> Message:
            nonlocal received_bytes
            message = await receive()
            received_bytes += len(message.get("body", b""))
            if received_bytes > self.max_bytes:
                raise _TooLargeError
            return message

        try:
            await self.application(scope, bounded_receive, send)
        except _TooLargeError:
            await self._refuse(send)

    async def _refuse(self, send: Send) -> None:
        body = json.dumps(document(413, f"The body is over {self.max_bytes} bytes.")).encode()
        headers = [(b"content-type", CONTENT_TYPE.encode()), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})
