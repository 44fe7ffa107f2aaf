"""The health check is answered by the event loop alone, whatever else the process does."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync

from engram.kernel.alive import Alive


async def _answer(application: Any, path: str, method: str = "GET") -> tuple[int, bytes]:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(),
        "query_string": b"", "headers": [(b"host", b"localhost")], "root_path": "",
        "http_version": "1.1", "scheme": "http", "client": ("127.0.0.1", 1), "server": ("x", 1),
    }  # fmt: skip
    await application(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


async def _nobody(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("the application was asked")


def test_the_health_check_asks_no_application() -> None:
    assert async_to_sync(_answer)(Alive(_nobody), "/healthz") == (200, b'{"status": "ok"}')
    assert async_to_sync(_answer)(Alive(_nobody), "/healthz", "HEAD") == (200, b"")


@pytest.mark.parametrize(("path", "method"), [("/healthz", "POST"), ("/healthz/", "GET")])
def test_everything_else_is_the_applications(path: str, method: str) -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 418, "headers": []})

    assert async_to_sync(_answer)(Alive(application), path, method) == (418, b"")
