"""A process's connection to the keeper of the embedded services: find the keeper, or start one."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from engram.embedded.keeper import START_SECONDS, socket_path, start_lock_path
from engram.embedded.places import make_home, read_record
from engram.embedded.privileges import EmbeddedServicesError

SOURCE = Path(__file__).resolve().parent.parent.parent
LOCK_SECONDS = START_SECONDS + 10
STOP_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Services:
    """The URLs of a home's services; empty for a service that was not requested."""

    database_url: str
    broker_url: str


class KeeperConnection:
    """A connection to the keeper; the services run as long as it is open."""

    def __init__(
        self,
        connection: socket.socket,
        services: Services,
        keeper: subprocess.Popen[bytes] | None,
    ) -> None:
        self.connection = connection
        self.services = services
        self._keeper = keeper  # set if this process started it
        self._owner = os.getpid()

    @classmethod
    def open(cls, home: Path, names: frozenset[str]) -> KeeperConnection:
        """Connect to the named services of a home, starting those that do not run."""
        home = home.expanduser().resolve()
        make_home(home)
        with _starting(home):
            keeper = None
            connection = _find_keeper(home)
            if connection is None:
                connection, keeper = _start_keeper(home)
            connection.settimeout(START_SECONDS + 10)
            connection.sendall(f"hold {' '.join(sorted(names))}\n".encode())
            try:
                urls = _read_answer(connection, home)
            except EmbeddedServicesError:
                cls(connection, Services("", ""), keeper).close(has_keeper_ended=True)
                raise
        services = Services(urls.get("postgres", ""), urls.get("redis", ""))
        return cls(connection, services, keeper)

    def release(self) -> None:
        """Close the connection; if it was the last one, wait until everything has stopped."""
        if os.getpid() != self._owner:
            return  # a forked child closes its copy when it ends
        try:
            self.connection.settimeout(STOP_SECONDS)
            self.connection.sendall(b"bye\n")
            while (answer := self.connection.recv(4096)) and b"staying\n" not in answer:
                pass
        except OSError:
            answer = b""
        self.close(has_keeper_ended=not answer)

    def close(self, *, has_keeper_ended: bool) -> None:
        """Close the connection, and reap a keeper that is a child of this process."""
        self.connection.close()
        if self._keeper is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self._keeper.wait(1 if has_keeper_ended else 0)
        if self._keeper.returncode is None:
            self._keeper.returncode = (
                0  # it outlives this process: no warning about an unreaped child
            )


@contextmanager
def _starting(home: Path) -> Iterator[None]:
    """Hold the start lock, while connecting or stopping."""
    deadline = time.monotonic() + LOCK_SECONDS
    with _open_private(start_lock_path(home)) as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise EmbeddedServicesError(
                        f"another process has been starting or stopping the services of {home} "
                        f"for {LOCK_SECONDS} s; see {home / 'logs' / 'services.log'}."
                    ) from None
                time.sleep(0.02)
        yield


def _find_keeper(home: Path) -> socket.socket | None:
    run = read_record(home).get("run")
    if not run:
        return None
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(socket_path(Path(run))))
    except OSError:
        connection.close()
        return None
    return connection


def _start_keeper(home: Path) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Start a keeper with an open connection.

    It has its own session, so that Ctrl-C does not stop it while others use it.
    """
    ours, theirs = socket.socketpair()
    with theirs, _open_private(home / "logs" / "services.log") as log:
        keeper = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "engram.embedded", str(home), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=SOURCE,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    return ours, keeper


def _open_private(path: Path) -> IO[bytes]:
    """Open a file of the home for appending."""
    try:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")
    except OSError as error:
        raise EmbeddedServicesError(
            f"{path}: {error.strerror}. Was this home used by another user, such as root?"
        ) from None


def _read_answer(connection: socket.socket, home: Path) -> dict[str, str]:
    received = b""
    try:
        while not received.endswith(b"\n") and (part := connection.recv(65536)):
            received += part
    except OSError as error:
        raise EmbeddedServicesError(f"the services of {home} do not answer: {error}") from error
    word, _, rest = received.decode().strip().partition(" ")
    if word == "ready":
        urls: dict[str, str] = json.loads(rest)
        return urls
    why = json.loads(rest) if word == "failed" else f"see {home / 'logs' / 'services.log'}"
    raise EmbeddedServicesError(f"the embedded services did not start: {why}")
