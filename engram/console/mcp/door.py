"""`/mcp`: admits requests; the SDK serves them, each by itself."""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp import types
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from engram.console.mcp.admission import (
    NotAdmittedError,
    check_body,
    check_caller,
    check_origin,
)
from engram.console.mcp.calls import InProcessApi
from engram.console.mcp.server import Context, make_server
from engram.kernel.asgi_messages import Application, AsgiMessage, Receive, Send
from engram.kernel.body_limit import discard, read_body, too_large
from engram.kernel.problems import document
from memories.api.sessions import SessionEnd

PATH = "/mcp"
# The largest body of a tool's call is that of the end of a session; the frame comes on top.
FRAME_BYTES = 16 * 1024
MAX_BODY_BYTES = SessionEnd.max_body_bytes + FRAME_BYTES
_BESIDE_THE_LOOP_BYTES = 64 * 1024  # bodies from here on are checked on a thread


class McpDoor:
    """ASGI middleware: serves the protocol at `/mcp`, and passes on everything else.

    Tools call `application`, which limits bodies as it does those that come from elsewhere. There
    are no sessions of the protocol: nothing of a request is kept when it is answered.
    """

    def __init__(self, application: Application):
        self._application = application
        self._sessions = StreamableHTTPSessionManager(
            make_server(self._api_of),
            json_response=True,
            stateless=True,
            max_request_body_size=MAX_BODY_BYTES,
        )

    def _api_of(self, context: Context) -> InProcessApi:
        assert context.request is not None  # noqa: S101  HTTP has one
        return InProcessApi(self._application, context.request.scope)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return the context within which the protocol is served."""
        return self._sessions.run()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["path"] != PATH:
            await self._application(scope, receive, send)
            return
        try:
            body = await _admit(scope, receive)
        except NotAdmittedError as refusal:
            await _refuse(send, refusal)
            return
        except ConnectionAbortedError:
            return
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> AsgiMessage:
            return waiting.pop() if waiting else await receive()

        await self._sessions.handle_request(scope, replay, send)  # type: ignore[arg-type]


async def _admit(scope: dict[str, Any], receive: Receive) -> bytes:
    """Return the body of a request that is served; raise `NotAdmittedError` for others."""
    headers = dict(scope["headers"])
    try:
        check_origin(headers)
        await asyncio.to_thread(check_caller, headers.get(b"authorization", b"").decode("latin-1"))
        # A stream from the server would stay silent: each request is answered by its response.
        if scope["method"] != "POST":
            raise NotAdmittedError(405, "Only POST is served here.", (b"allow", b"POST"))
    except NotAdmittedError:
        await discard(receive)
        raise
    body = await read_body(headers, receive, MAX_BODY_BYTES)
    if body is None:
        raise NotAdmittedError(413, too_large(MAX_BODY_BYTES), code=types.INVALID_REQUEST)
    if len(body) > _BESIDE_THE_LOOP_BYTES:
        await asyncio.to_thread(check_body, body)
    else:
        check_body(body)
    return body


async def _refuse(send: Send, refusal: NotAdmittedError) -> None:
    problem = document(refusal.status, refusal.detail)
    error = {"code": refusal.code, "message": refusal.detail, "data": problem}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = [(b"content-type", b"application/json"), *refusal.headers]
    if refusal.status == 413:  # its rest may not have been read
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
