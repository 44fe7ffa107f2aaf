"""Check whether the web processes are ready."""

from __future__ import annotations

import json
import os
import selectors
import socket
import time
from contextlib import suppress

PROBE_PAUSE_SECONDS = 0.2
UNREADY_PAUSE_SECONDS = 2.0  # after a response


class ReadinessProbe:
    """Requests /readyz over one connection, which waits until a web process accepts it."""

    def __init__(self, address: tuple[str, int], selector: selectors.BaseSelector) -> None:
        self.is_ready = False
        self._complaint = self._reported = ""
        self._address, self._selector = address, selector
        self._connection: socket.socket | None = None
        self._next_at = 0.0
        self._received = b""

    def look(self) -> None:
        """Send the next request if it is due."""
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

    def new_complaint(self) -> str:
        """Return the failed checks if they have changed."""
        if self._complaint == self._reported:
            return ""
        self._reported = self._complaint
        return self._complaint

    def close(self) -> None:
        """Close the connection."""
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
            if body and not self.is_ready:
                self._next_at = time.monotonic() + UNREADY_PAUSE_SECONDS
            self._complaint = "" if self.is_ready else failed_checks(body)


def failed_checks(body: bytes) -> str:
    """Return the failed checks of a /readyz response, in one line."""
    try:
        checks = json.loads(body)["checks"]
        return "; ".join(_describe(check) for check in checks if not check["ok"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace").strip()[:200]


def _describe(check: dict[str, str]) -> str:
    """Return a check's name, with its detail if the response has it; the web's log has it."""
    return f"{check['name']}: {check['detail']}" if "detail" in check else check["name"]
