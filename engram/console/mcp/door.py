"""`/mcp`: who may call, at what rate and from which host; the SDK serves the rest, statelessly."""

from __future__ import annotations

import asyncio
import json
import math
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import close_old_connections
from django.http.request import split_domain_port, validate_host
from django.utils import timezone
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from engram.console.mcp.server import make_server
from engram.kernel import keys
from engram.kernel.asgi_messages import Application, Receive, Send
from engram.kernel.problems import document
from engram.kernel.throttling import seconds_to_wait

PATH = "/mcp"
_REFUSED = -32001
Refusal = tuple[int, str, list[tuple[bytes, bytes]]]


class McpDoor:
    """ASGI middleware: serves the protocol at `/mcp`, and passes on everything else."""

    def __init__(self, application: Application):
        self._application = application
        self._sessions = StreamableHTTPSessionManager(
            make_server(application), json_response=True, stateless=True
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return the context within which the protocol is served."""
        return self._sessions.run()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["path"] != PATH:
            await self._application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refusal = refuse_origin(headers)
        if refusal is None:
            token = headers.get(b"authorization", b"").decode("latin-1")
            refusal = await asyncio.to_thread(refuse_caller, token)
        if refusal is not None:
            await _send_refusal(send, *refusal)
            return
        await self._sessions.handle_request(scope, receive, send)  # type: ignore[arg-type]


def refuse_origin(headers: dict[bytes, bytes]) -> Refusal | None:
    """Return why the host or the page that sends a request is refused, or None."""
    host = split_domain_port(headers.get(b"host", b"").decode("latin-1"))[0]
    if not host or not validate_host(host, settings.ALLOWED_HOSTS):
        return 400, "This host is not served here.", []
    origin = headers.get(b"origin", b"").decode("latin-1")
    if not origin or origin in settings.CSRF_TRUSTED_ORIGINS:
        return None
    try:
        named = urlsplit(origin).hostname or ""
    except ValueError:
        named = ""
    if named and validate_host(named, settings.ALLOWED_HOSTS):
        return None
    return 403, "Pages of this origin may not call.", []


def refuse_caller(authorization: str) -> Refusal | None:
    """Count a request as one read of its key; return why it is refused, or None."""
    try:
        scheme, _, token = authorization.partition(" ")
        found = keys.find_with_workspace(token.strip()) if scheme.lower() == "bearer" else None
        if found is None or not found[0].is_usable(timezone.now()):
            realm = [(b"www-authenticate", b'Bearer realm="engram"')]
            return 401, "A valid key is needed: Authorization: Bearer <key>.", realm
        key, workspace = found
        if key.is_exempt_from_throttle:
            return None
        seconds = seconds_to_wait(workspace, key.actor, is_read=True)
        if seconds is None:
            return None
        again = str(max(math.ceil(seconds), 1))
        return 429, f"Too many calls; try again in {again} s.", [(b"retry-after", again.encode())]
    finally:
        close_old_connections()


async def _send_refusal(
    send: Send, status: int, detail: str, headers: list[tuple[bytes, bytes]]
) -> None:
    error = {"code": _REFUSED, "message": detail, "data": document(status, detail)}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    typed = [(b"content-type", b"application/json"), *headers]
    await send({"type": "http.response.start", "status": status, "headers": typed})
    await send({"type": "http.response.body", "body": body})
