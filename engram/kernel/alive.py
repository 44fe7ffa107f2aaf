"""Says that the process is alive, without a thread or a middleware: it answers under any load."""

from __future__ import annotations

from typing import Any

from engram.kernel.body_limit import Application, Receive, Send

PATH = "/healthz"
BODY = b'{"status": "ok"}'


class Alive:
    """ASGI middleware: answers the health check itself, on the event loop.

    Django's own views wait for a thread, and it for the lock of the interpreter, several times.
    """

    def __init__(self, application: Application):
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer GET and HEAD of the health check; serve everything else."""
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
