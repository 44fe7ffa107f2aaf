"""Call the API: tools have its validation, roles, throttles and counters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlencode

if TYPE_CHECKING:  # a process that calls a URL loads no Django
    from engram.kernel.asgi_messages import Application, AsgiMessage

PASSED_HEADERS = frozenset({b"host", b"authorization", b"idempotency-key", b"x-request-id"})


class ArgumentError(Exception):
    """The arguments do not say which operation is meant."""


@dataclass(frozen=True, slots=True)
class Call:
    """One operation of the API: method, percent-encoded path below `/api/v1/`, body or query."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] | None = None

    def query_string(self) -> str:
        """Return the query; raise `ArgumentError` if a value is no text, number or flag."""
        return urlencode([(name, _plain(name, one)) for name, one in (self.query or {}).items()])


def _plain(name: str, value: Any) -> str:
    """Return a value of the query as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise ArgumentError(f"{name[:60]}: Must be a text or a number.")


@dataclass(frozen=True, slots=True)
class Reply:
    """The API's answer; `wait_seconds` where it refused for the rate of calls."""

    status: int
    data: Any
    wait_seconds: str = ""

    @property
    def is_refused(self) -> bool:
        """Return whether the API refused the call."""
        return self.status >= 400

    @property
    def detail(self) -> str:
        """Return why the API refused the call."""
        detail = self.data.get("detail") if isinstance(self.data, dict) else None
        return str(detail or f"The service answered with status {self.status}.")


class Api(Protocol):
    """The API as one caller; `url` is where people open its pages."""

    url: str

    async def send(self, call: Call) -> Reply:
        """Send a call; return the answer, whatever its status."""
        ...


class InProcessApi:
    """The API within this process, with the headers and the address of an outer request."""

    def __init__(self, application: Application, outer: Mapping[str, Any]):
        self._application = application
        self._outer = outer
        self._headers = [pair for pair in outer["headers"] if pair[0] in PASSED_HEADERS]
        host = dict(self._headers).get(b"host", b"").decode("latin-1")
        self.url = f"{outer.get('scheme', 'http')}://{host}"

    async def send(self, call: Call) -> Reply:
        """Send a call; return the answer, whatever its status."""
        body = b"" if call.body is None else json.dumps(call.body).encode()
        scope = {
            **self._outer,
            "method": call.method,
            "path": unquote(f"/api/v1/{call.path}"),
            "raw_path": None,
            "query_string": call.query_string().encode(),
            "headers": [
                *self._headers,
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
            ],
        }
        return await ask(self._application, scope, body)


async def ask(application: Application, scope: dict[str, Any], body: bytes) -> Reply:
    """Send one request to an ASGI application; return its whole answer."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]
    status, chunks = 500, []
    headers: Iterable[tuple[bytes, bytes]] = ()

    async def receive() -> AsgiMessage:
        if waiting:
            return waiting.pop()
        await asyncio.Event().wait()  # this client never leaves; the task is cancelled
        raise AssertionError

    async def collect(message: AsgiMessage) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status, headers = message["status"], message["headers"]
        else:
            chunks.append(message.get("body", b""))

    await application(scope, receive, collect)
    wait = {name.lower(): value for name, value in headers}.get(b"retry-after", b"")
    return Reply(status, json_of(b"".join(chunks)), wait.decode("latin-1"))


def json_of(text: bytes) -> Any:
    """Return an answer's JSON; None if it has none, such as a page of an error."""
    try:
        return json.loads(text)
    except ValueError:
        return None
