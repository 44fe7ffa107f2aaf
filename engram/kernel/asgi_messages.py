"""Types of ASGI applications, and the problem documents that they send without Django."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from engram.kernel.problems import CONTENT_TYPE, document

AsgiMessage = Mapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


async def send_problem(send: Send, status: int, detail: str, *headers: tuple[bytes, bytes]) -> None:
    """Send a whole response that refuses a request."""
    body = json.dumps(document(status, detail)).encode()
    typed = [(b"content-type", CONTENT_TYPE.encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": typed})
    await send({"type": "http.response.body", "body": body})
