"""Whether the web processes answer."""

from __future__ import annotations

import os
import selectors
import socket
import time
from contextlib import suppress

PROBE_PAUSE_SECONDS = 0.2


class ReadinessProbe:
    """Asks /readyz over one connection, which waits in the queue until a web process is there."""

    def __init__(self, address: tuple[str, int], selector: selectors.BaseSelector) -> None:
        self.is_ready = False
        self.said = ""
        self._address, self._selector = address, selector
        self._connection: socket.socket | None = None
        self._next_at = 0.0
        self._received = b""

    def look(self) -> None:
        """Ask again when it is time."""
        if self._connection or self.is_ready or time.monotonic() < self._next_at:
            return
        self._received = b""
        self._next_at = time.monotonic() + PROBE_PAUSE_SECONDS
        host = os.environ.get("ENGRAM_ALLOWED_HOSTS", "localhost").split(",")[0].lstrip(".*")
        request = f"GET /readyz HTTP/1.0\r\nHost: {host or 'localhost'}\r\n\r\n"
        with suppress(OSError):
            self._connection = socket.create_connection(self._address, timeout=1)
            self._connection.sendall(request.encode())
            self._selector.register(self._connection, selectors.EVENT_READ, self._read)

    def close(self) -> None:
        """Stop asking."""
        if self._connection:
            self._selector.unregister(self._connection)
            self._connection.close()
            self._connection = None

    def _read(self) -> None:
        if self._connection is None:
            return
        try:
            received = self._connection.recv(65536)
        except OSError:
            received = b""
        self._received += received
        if not received:
            self.close()
            head, _, body = self._received.partition(b"\r\n\r\n")
            self.is_ready = head.split(b" ")[1:2] == [b"200"]
            self.said = body.decode(errors="replace")
