"""Answer the liveness check on the event loop, without a thread, so that it works under load."""

from __future__ import annotations

from typing import Any

from engram.kernel.asgi_messages import Application, Receive, Send

PATH = "/healthz"
BODY = b'{"status": "ok"}'


class Alive:
    """ASGI middleware: answers the liveness check on the event loop.

    Django's views would wait for a thread, and the thread for the interpreter's lock.
    """

    def __init__(self, application: Application):
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer GET and HEAD of the liveness check; pass on everything else."""
        if scope["path"] != PATH or scope["method"] not in {"GET", "HEAD"}:
            await self.application(scope, receive, send)
            return
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(BODY)).encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        body = BODY if scope["method"] == "GET" else b""
        await send({"type": "http.response.body", "body": body})
