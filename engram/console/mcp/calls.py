"""Call the API within the process: tools have its validation, roles, throttles and counters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from engram.kernel.asgi_messages import Application, AsgiMessage

PASSED_HEADERS = frozenset({b"host", b"authorization", b"idempotency-key", b"x-request-id"})


@dataclass(frozen=True, slots=True)
class Call:
    """One operation of the API: method, path below `/api/v1/`, body or query."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The API's answer; `wait_seconds` where it refused for the rate of calls."""

    status: int
    data: Any
    wait_seconds: str = ""


class Api:
    """The API as one caller, whose headers and address are those of the outer request."""

    def __init__(self, application: Application, outer: Mapping[str, Any]):
        self._application = application
        self._outer = outer

    async def send(self, call: Call) -> Reply:
        """Send a call; return the answer, whatever its status."""
        body = b"" if call.body is None else json.dumps(call.body).encode()
        headers = [pair for pair in self._outer["headers"] if pair[0] in PASSED_HEADERS]
        headers += [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        ]
        scope = {
            **self._outer,
            "method": call.method,
            "path": f"/api/v1/{call.path}",
            "raw_path": None,
            "query_string": urlencode(call.query or {}, doseq=True).encode(),
            "headers": headers,
        }
        waiting = [{"type": "http.request", "body": body, "more_body": False}]
        status, chunks, answered = 500, [], {}

        async def receive() -> AsgiMessage:
            if waiting:
                return waiting.pop()
            await asyncio.Event().wait()  # this client never leaves; the task is cancelled
            raise AssertionError

        async def collect(message: AsgiMessage) -> None:
            nonlocal status, answered
            if message["type"] == "http.response.start":
                status, answered = message["status"], dict(message["headers"])
            else:
                chunks.append(message.get("body", b""))

        await self._application(scope, receive, collect)
        text = b"".join(chunks)
        wait = {name.lower(): value for name, value in answered.items()}.get(b"retry-after", b"")
        return Reply(status, json.loads(text) if text else None, wait.decode())
