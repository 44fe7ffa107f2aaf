"""The keeper: one process per home that runs the embedded servers while they are used.

    python -m engram.embedded HOME SOCKET_FD

Users hold a connection to it. The kernel closes a connection however its process ends, so the
keeper always knows the remaining users, also after kill -9; without users it stops the servers and
exits. The servers end with the keeper, and a server that ends alone is restarted.

A user writes one line, `hold postgres redis`, and gets `ready {urls}` or `failed "why"`;
after `watch` it also gets every line that the servers log. `bye` is answered by `staying` when
others remain, else by the end of the connection once everything has stopped.
"""

from __future__ import annotations

import fcntl
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engram.embedded.broker import Redis
from engram.embedded.child import Child
from engram.embedded.logs import rotating_log
from engram.embedded.places import Places, find_places, make_home
from engram.embedded.postgres import Postgres
from engram.embedded.privileges import EmbeddedServicesError, child_options
from engram.embedded.wakeup import wake_on_signals

KINDS: dict[str, type[Postgres] | type[Redis]] = {"postgres": Postgres, "redis": Redis}
START_SECONDS = 120  # crash recovery can take long
STOP_SECONDS = 6
STARTING_TICK_SECONDS = 0.02
IDLE_TICK_SECONDS = 0.1


class Server:
    """An embedded server: a child process and its readiness."""

    def __init__(self, service: Postgres | Redis, keeper: Keeper) -> None:
        self.service = service
        self.wanted_at = time.monotonic()
        self.is_ready = False
        self.last_lines: list[str] = []
        self._keeper = keeper
        self._log = rotating_log(keeper.places.logs / f"{service.name}.log")
        self.child = Child(
            service.name,
            prepare=self._prepare,
            report=self._report,
            selector=keeper.selector,
            stop_signal=service.stop_signal,
        )

    def look_after(self) -> None:
        """Restart it when it has ended, and check its readiness."""
        self.child.look_after()
        process = self.child.process
        is_ready = process is not None and (self.is_ready or self.service.is_ready(process.pid))
        if is_ready and not self.is_ready:
            self._report("ready", True)
        self.is_ready = is_ready

    def is_late(self) -> bool:
        """Return whether its start has timed out."""
        return not self.is_ready and time.monotonic() - self.wanted_at > START_SECONDS

    def _prepare(self) -> tuple[list[str], dict[str, Any]]:
        self.service.set_up()
        uid = self.service.uid
        return self.service.command(), child_options(uid, uid, self.service.stop_signal)

    def _report(self, line: str, is_ours: bool) -> None:
        if is_ours:
            self._keeper.events.info("%s %s", self.service.name, line)
        else:
            self._log.info("%s", line)
        self.last_lines = [*self.last_lines[-4:], line.strip()]
        self._keeper.send_to_watchers(f"log {self.service.name} {line}")


@dataclass(eq=False)
class User:
    """A connected process."""

    connection: socket.socket
    received: bytes = b""
    wants: frozenset[str] = frozenset()
    is_answered: bool = True
    is_watching: bool = False
    has_left: bool = False

    def send(self, line: str) -> None:
        """Send a line; drop it if the process does not read."""
        try:
            self.connection.send(line.encode() + b"\n")
        except OSError:
            return


class Keeper:
    """The event loop."""

    def __init__(self, home: Path, places: Places, first: socket.socket) -> None:
        self.home = home
        self.places = places
        self.servers: dict[str, Server] = {}
        self.users: list[User] = []
        self.events = rotating_log(places.logs / "services.log")
        self.is_asked_to_stop = False
        self.selector = selectors.DefaultSelector()
        self.listener = self._listen()
        self._wakers = wake_on_signals(self.selector, self._ask_to_stop, [signal.SIGTERM])
        self._admit(first)

    def _listen(self) -> socket.socket:
        path = socket_path(self.places.run)
        path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(64)
        listener.setblocking(False)
        self.selector.register(listener, selectors.EVENT_READ, self._accept)
        return listener

    def _ask_to_stop(self) -> None:
        self.is_asked_to_stop = True

    def run(self) -> None:
        """Serve until there are no users, or until a stop signal."""
        is_left_alone = False
        while not self.is_asked_to_stop and not is_left_alone:
            for key, _events in self.selector.select(self._tick_seconds()):
                key.data()
            for server in list(self.servers.values()):
                server.look_after()
            self._answer()
            is_left_alone = not self._has_users() and self._may_stop()
        socket_path(self.places.run).unlink(missing_ok=True)
        self._stop_servers()
        is_own_folder = self.places.run.parent != self.places.state
        if is_left_alone and is_own_folder:  # otherwise another keeper may use it already
            shutil.rmtree(self.places.run, ignore_errors=True)

    def _has_users(self) -> bool:
        return any(not user.has_left for user in self.users)

    def _tick_seconds(self) -> float | None:
        if any(not server.is_ready for server in self.servers.values()):
            return STARTING_TICK_SECONDS
        return None if self._has_users() else IDLE_TICK_SECONDS

    def _may_stop(self) -> bool:
        """Take the start lock; return False if a user is connecting.

        It is held until this process ends, so that the next keeper finds everything stopped.
        """
        self._lock = start_lock_path(self.home).open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    # users

    def _accept(self) -> None:
        self._admit(self.listener.accept()[0])

    def _admit(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        user = User(connection)
        self.users.append(user)
        self.selector.register(connection, selectors.EVENT_READ, lambda: self._read(user))

    def _read(self, user: User) -> None:
        try:
            received = user.connection.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received:
            self.selector.unregister(user.connection)
            user.connection.close()
            self.users.remove(user)
            return
        *lines, user.received = (user.received + received).split(b"\n")
        for line in lines:
            self._obey(user, line.decode(errors="replace").split())

    def _obey(self, user: User, words: list[str]) -> None:
        match words:
            case ["hold", *names]:
                user.wants, user.is_answered = frozenset(names) & frozenset(KINDS), False
                self._want(user)
            case ["watch"]:
                user.is_watching = True
            case ["bye"]:
                user.has_left = True
                if self._has_users():
                    user.send("staying")

    def _want(self, user: User) -> None:
        for name in sorted(user.wants - set(self.servers)):
            service = KINDS[name](self.places)
            try:
                service.set_up()
            except (EmbeddedServicesError, OSError) as error:
                self._fail(user, str(error))
                return
            self.servers[name] = Server(service, self)

    def _answer(self) -> None:
        for user in self.users:
            if user.is_answered:
                continue
            servers = [self.servers[name] for name in user.wants]
            if all(server.is_ready for server in servers):
                urls = {server.service.name: server.service.url for server in servers}
                user.send("ready " + json.dumps(urls))
                user.is_answered = True
            elif late := [server for server in servers if server.is_late()]:
                lines = " / ".join(late[0].last_lines)
                self._fail(user, f"{late[0].service.name} does not start: {lines}")

    def _fail(self, user: User, why: str) -> None:
        user.send("failed " + json.dumps(why))
        user.is_answered = True

    def send_to_watchers(self, line: str) -> None:
        """Send a line to the users that watch the servers' logs."""
        for user in self.users:
            if user.is_watching:
                user.send(line)

    def _stop_servers(self) -> None:
        children = [server.child for server in self.servers.values()]
        for child in children:
            child.ask_to_stop()
        deadline = time.monotonic() + STOP_SECONDS
        for child in children:
            child.wait_for_end(deadline)
        self.events.info("stopped")


def socket_path(run: Path) -> Path:
    """Return the path of the keeper's socket."""
    return run / "keeper.sock"


def start_lock_path(home: Path) -> Path:
    """Return the lock file that users take while connecting, and the keeper while stopping."""
    return home / "services.lock"


def main() -> int:
    """Run the keeper of a home for the process that started it."""
    home, first = Path(sys.argv[1]), socket.socket(fileno=int(sys.argv[2]))
    os.umask(0o077)
    try:
        make_home(home)
        keeper = Keeper(home, find_places(home), first)
    except (EmbeddedServicesError, OSError) as error:
        User(first).send("failed " + json.dumps(str(error)))
        return 1
    keeper.run()
    return 0
