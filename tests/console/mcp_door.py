"""Clients of the Model Context Protocol that talk to the door within the test's process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from django.db import connection
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

from engram.console.mcp.door import McpDoor
from engram.kernel.body_limit import BodyLimit
from engram.kernel.request_threads import ThreadHandler
from tests.conftest import Caller

URL = "http://localhost:8000/mcp"
ACCEPT = {"Accept": "application/json, text/event-stream"}


def thread(work: Callable[..., Any], *arguments: Any, **named: Any) -> Awaitable[Any]:
    """Work with the database beside the event loop; the connection is closed again."""

    def work_once() -> Any:
        try:
            return work(*arguments, **named)
        finally:
            connection.close()

    return asyncio.to_thread(work_once)


def frame(method: str, params: Any = None, **fields: Any) -> dict[str, Any]:
    """Return a request of the protocol."""
    named = {} if params is None else {"params": params}
    return {"jsonrpc": "2.0", "id": 1, "method": method, **named, **fields}


def tool_call(name: str, **arguments: Any) -> dict[str, Any]:
    """Return the request that calls a tool."""
    return frame("tools/call", {"name": name, "arguments": arguments})


def said(result: types.CallToolResult) -> dict[str, Any]:
    """Return what the one text of a result says; a refusal fails the test."""
    assert not result.is_error, result
    return text_of(result)


def refusal(result: types.CallToolResult) -> dict[str, Any]:
    """Return what the text of a refusal says."""
    assert result.is_error, result
    return text_of(result)


def text_of(result: types.CallToolResult) -> dict[str, Any]:
    """Return the one text of a result, which has nothing else."""
    (content,) = result.content
    assert result.structured_content is None
    assert isinstance(content, types.TextContent)
    shown: dict[str, Any] = json.loads(content.text)
    return shown


class Door:
    """The door, open for requests by HTTP and for clients of the SDK."""

    def __init__(self, door: McpDoor, http: httpx2.AsyncClient):
        self.door = door
        self._http = http

    @asynccontextmanager
    async def client(self, caller: Caller, **options: Any) -> AsyncIterator[Client]:
        """Return a connected client with a caller's key."""
        headers = {"Authorization": f"Bearer {caller.token}"}
        async with (
            httpx2.AsyncClient(transport=self._http._transport, headers=headers) as http,
            Client(streamable_http_client(URL, http_client=http), **options) as client,
        ):
            yield client

    async def post(self, caller: Caller | None, body: Any, **headers: str) -> httpx2.Response:
        """Send a body as it is, or as JSON."""
        key = {"Authorization": f"Bearer {caller.token}"} if caller else {}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        typed = {"Content-Type": "application/json", **ACCEPT, **key, **headers}
        return await self._http.post(URL, content=content, headers=typed)

    async def request(self, method: str, caller: Caller, **headers: str) -> httpx2.Response:
        """Send a request without a body."""
        key = {"Authorization": f"Bearer {caller.token}", **ACCEPT, **headers}
        return await self._http.request(method, URL, headers=key)


@asynccontextmanager
async def opened() -> AsyncIterator[Door]:
    """Open a door before the API."""
    door = McpDoor(BodyLimit(ThreadHandler()))
    async with (
        door.running(),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(door)) as http,  # type: ignore[arg-type]
    ):
        yield Door(door, http)
