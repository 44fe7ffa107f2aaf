"""A local HTTP server that webhooks are sent to, over a real socket.

with WebhookTarget() as target:
    target.answer(503, "busy")
    ... target.url ...
assert target.requests[0].headers["webhook-id"] == ...
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.local_server import serve, stop


@dataclass(frozen=True)
class Received:
    """What was sent to the target."""

    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes


Behaviour = Callable[[BaseHTTPRequestHandler], None]


class WebhookTarget:
    """Answers POST requests on loopback, and remembers them."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.requests: list[Received] = []
        self.closing = threading.Event()
        self.behave: Behaviour = plainly(200, "ok")
        target = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                sent = {name.lower(): value for name, value in self.headers.items()}
                target.requests.append(Received(self.path, sent, body))
                with suppress(OSError):
                    target.behave(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer((host, 0), Handler)
        self._server.daemon_threads = True

    @property
    def port(self) -> int:
        """Return the port."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Return the URL."""
        return f"http://127.0.0.1:{self.port}/hook?team=1"

    def secure(self, context: ssl.SSLContext) -> None:
        """Speak TLS from now on."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def answer(self, status: int, body: str = "", **headers: str) -> None:
        """Answer this from now on; `_` in names of headers stands for `-`."""
        self.behave = plainly(status, body, **headers)

    def __enter__(self) -> Self:
        self._thread = serve(self._server)
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        stop(self._server, self._thread)


def plainly(status: int, body: str, **headers: str) -> Behaviour:
    """Return the behaviour of answering a status and a body."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        content = body.encode()
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return behave


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
