"""A websocket client that talks ASGI to the application, without a server in between."""

from __future__ import annotations

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator

from engram.console.routing import websocket_application
from tests.homes import PATIENCE_SECONDS

LEAVE_SECONDS = 1.0  # then a connection that was refused or closed is cancelled, as servers do
HOST = b"localhost:8000"


class Socket(ApplicationCommunicator):
    """One connection to a path."""

    def __init__(self, path: str, headers: list[tuple[bytes, bytes]]):
        scope = {
            "type": "websocket",
            "path": path,
            "query_string": b"",
            "headers": [(b"host", HOST), *headers],
            "subprotocols": [],
        }
        super().__init__(websocket_application, scope)

    async def connect(self) -> bool:
        """Shake hands; tell whether the connection was accepted."""
        await self.send_input({"type": "websocket.connect"})
        answer = await self.receive_output(PATIENCE_SECONDS)
        return bool(answer["type"] == "websocket.accept")

    async def say(self, text: str | None = None, *, binary: bytes | None = None) -> None:
        """Send a frame."""
        await self.send_input({"type": "websocket.receive", "text": text, "bytes": binary})

    async def hear(self) -> dict[str, Any]:
        """Return the next message."""
        output = await self.receive_output(PATIENCE_SECONDS)
        assert output["type"] == "websocket.send", output
        message: dict[str, Any] = json.loads(output["text"])
        return message

    async def closed_with(self) -> int:
        """Wait for the end and return its code."""
        while True:
            output = await self.receive_output(PATIENCE_SECONDS)
            if output["type"] == "websocket.close":
                return int(output["code"])

    async def leave(self) -> None:
        """Hang up."""
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(LEAVE_SECONDS)
