"""Send one POST to a checked address, within a time limit, and read a little of the answer.

The standard library's client, with a socket of ours: HTTP clients resolve names by themselves, and
their time limits are for each read, so that a target which sends a byte now and then holds them for
ever. Redirects are not followed: they could lead to an address that nobody has checked.
"""

from __future__ import annotations

import io
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from time import monotonic
from typing import Any, Final

from engram.console.webhooks.addresses import (
    PORTS,
    Address,
    AddressError,
    Resolver,
    Target,
    addresses_of,
    read_url,
)
from engram.kernel.labels import printable

TOTAL_SECONDS: Final = 10.0
ANSWER_BYTES: Final = 1024
NOTE_CHARS: Final = 200
Timer = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the status, None without an answer, and its first line or what went wrong."""

    status: int | None
    note: str
    retry_after: int = 0  # seconds

    @property
    def is_success(self) -> bool:
        """Return whether the target has taken the delivery."""
        return self.status is not None and 200 <= self.status < 300


class LateError(OSError):
    """The time limit has passed."""


class Deadline:
    """A time limit for everything together; `timer` returns seconds that only grow."""

    def __init__(self, seconds: float, timer: Timer = monotonic) -> None:
        self._timer, self._until = timer, timer() + seconds

    def left(self) -> float:
        """Return the seconds that are left; raise `LateError` when there are none."""
        left = self._until - self._timer()
        if left <= 0:
            raise LateError
        return left


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    seconds: float = TOTAL_SECONDS,
    resolve: Resolver | None = None,
    context: ssl.SSLContext | None = None,
) -> Answer:
    """Send a body; return what came back. Never raises for what a target does.

    `context` replaces the certificates of the system, `resolve` its name resolution.
    """
    deadline = Deadline(seconds)
    try:
        target = read_url(url)
        addresses = addresses_of(target, seconds=deadline.left(), resolve=resolve)
        with _connect(target, addresses, deadline, context) as opened:
            return _exchange(opened, target, body, headers, deadline)
    except AddressError as error:
        return Answer(None, first_line(str(error)))
    except (LateError, TimeoutError):
        return Answer(None, f"No answer within {seconds:g} seconds.")
    except ssl.SSLError as error:
        return Answer(None, f"TLS failed: {first_line(str(error.reason or error))}")
    except (HTTPException, ValueError) as error:
        return Answer(None, f"Is no HTTP answer: {type(error).__name__}")
    except OSError as error:
        return Answer(None, f"Not reached: {first_line(error.strerror or type(error).__name__)}")


def first_line(text: str) -> str:
    """Return the first line of a text that anybody may have written, printable and short."""
    lines = text.strip().splitlines()
    return printable(lines[0] if lines else "")[:NOTE_CHARS]


def _connect(
    target: Target,
    addresses: list[Address],
    deadline: Deadline,
    context: ssl.SSLContext | None,
) -> socket.socket:
    """Connect to the first of the checked addresses that answers, with TLS for the host's name."""
    failure: OSError = LateError()
    for position, address in enumerate(addresses):
        share = deadline.left() / (len(addresses) - position)
        try:
            opened = socket.create_connection((str(address), target.port), timeout=share)
            break
        except OSError as error:
            failure = error
    else:
        raise failure
    if target.scheme == "http":
        return opened
    try:
        opened.settimeout(deadline.left())
        secure = context or ssl.create_default_context()
        return secure.wrap_socket(opened, server_hostname=target.host)
    except BaseException:
        opened.close()
        raise


class _TimedSocket:
    """What `HTTPConnection` uses of a socket; each step has the time that is left."""

    def __init__(self, opened: socket.socket, deadline: Deadline) -> None:
        self._opened, self._deadline = opened, deadline

    def sendall(self, data: Any) -> None:
        """Send bytes."""
        self._opened.settimeout(self._deadline.left())
        self._opened.sendall(data)

    def makefile(self, *_: Any) -> io.BufferedReader:
        """Return a reader of what comes."""
        return io.BufferedReader(_TimedReader(self._opened, self._deadline), ANSWER_BYTES)

    def close(self) -> None:
        """Do nothing: the answer is still to be read, and who has opened the socket closes it."""


class _TimedReader(io.RawIOBase):
    def __init__(self, opened: socket.socket, deadline: Deadline) -> None:
        super().__init__()
        self._opened, self._deadline = opened, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._opened.settimeout(self._deadline.left())
        return self._opened.recv_into(buffer)


def _exchange(
    opened: socket.socket,
    target: Target,
    body: bytes,
    headers: Mapping[str, str],
    deadline: Deadline,
) -> Answer:
    host = f"[{target.host}]" if ":" in target.host else target.host
    named = host if target.port == PORTS[target.scheme] else f"{host}:{target.port}"
    connection = HTTPConnection(target.host, target.port)
    connection.sock = _TimedSocket(opened, deadline)
    sent = {"Host": named, "Connection": "close", **headers}
    connection.request("POST", target.path, body, sent)
    response = connection.getresponse()
    note = "It redirects elsewhere, which is not followed."
    if not 300 <= response.status < 400:
        note = _note_in(response)
    wait = response.getheader("Retry-After", "")
    seconds = int(wait) if wait.isascii() and wait.isdigit() and len(wait) < 7 else 0
    return Answer(response.status, note, seconds)


def _note_in(response: HTTPResponse) -> str:
    """Return the first line of an answer's body; the status counts, however the body goes on."""
    try:
        return first_line(response.read(ANSWER_BYTES).decode("utf-8", "replace"))
    except (OSError, HTTPException):
        return ""
