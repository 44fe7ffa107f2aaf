"""Run the process tree: services, preparation, children, shutdown."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from typing import IO, Any

from engram import embedded
from engram.embedded.child import Child
from engram.embedded.keeper_connection import SOURCE, KeeperConnection
from engram.embedded.privileges import application_folder, die_with_parent
from engram.embedded.wakeup import wake_on_signals
from engram.supervisor.account import REMEDY, Account, choose_account
from engram.supervisor.plan import CannotStartError, Plan
from engram.supervisor.probe import PROBE_PAUSE_SECONDS, ReadinessProbe
from engram.supervisor.terminal import Console, greeting, own_url, read_demo
from engram.supervisor.workers import workers

STOP_SECONDS = 8  # a worker on a busy machine needs 5; Docker kills all after 10
GIVE_UP_FAILURES = 4  # early exits of a process, before everything was ready once
EXIT_FAILED = 1
# Celery warns root, and groups without a name, about pickled messages; Engram's are JSON.
CELERY_ADVICE = (
    "ignore:You're running the worker with superuser privileges,"
    "ignore:An entry for the specified gid or egid was not found"
)


class Supervisor:
    """The event loop of children, the services' keeper and signals."""

    def __init__(self, plan: Plan, listener: socket.socket, console: Console) -> None:
        self.plan, self.listener, self.console = plan, listener, console
        self.selector = selectors.DefaultSelector()
        self.children: list[Child] = []
        self.services_connection: KeeperConnection | None = None
        self.is_stopping = False
        self.environment = self._child_environment()
        self.account = Account(plan.home)
        stop_signals = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup asks
            stop_signals.append(signal.SIGHUP)
        self._wakers = wake_on_signals(self.selector, self._ask_to_stop, stop_signals)

    def _child_environment(self) -> dict[str, str]:
        return {
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            # glibc gives each thread a heap of its own, and none returns what it no longer needs.
            "MALLOC_ARENA_MAX": "2",
            "PYTHONWARNINGS": CELERY_ADVICE,
            **os.environ,
            "ENGRAM_HOME": str(self.plan.home),
            "ENGRAM_HOST": self.plan.host,
            "ENGRAM_PORT": str(self.plan.port),
            "PYTHONUNBUFFERED": "1",
            "DJANGO_SETTINGS_MODULE": "engram.settings",
        }

    def _ask_to_stop(self) -> None:
        self.is_stopping = True

    def run(self) -> int:
        """Run until a signal comes; return the exit code."""
        try:
            self._take_services()
            self._prepare()
            self._choose_account()
            self._start_children()
            self._watch()
        except (CannotStartError, embedded.EmbeddedServicesError) as error:
            self.console.show("up", str(error))
            return EXIT_FAILED
        finally:
            self._stop()
        return 0

    # services

    def _take_services(self) -> None:
        names = embedded.missing_services()
        if not names:
            return
        self.services_connection = KeeperConnection.open(self.plan.home, names)
        services = self.services_connection.services
        if "postgres" in names:
            self.environment["DATABASE_URL"] = services.database_url
        if "redis" in names:
            self.environment["BROKER_URL"] = services.broker_url
        self.services_connection.connection.sendall(b"watch\n")
        self.services_connection.connection.setblocking(False)
        self.selector.register(
            self.services_connection.connection, selectors.EVENT_READ, self._read_keeper
        )
        self.console.show("up", f"services are ready: {', '.join(sorted(names))}")

    def _read_keeper(self) -> None:
        """Show the servers' logs; start another keeper when it was killed."""
        if self.services_connection is None:
            return
        try:
            received = self.services_connection.connection.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        for line in received.decode(errors="replace").splitlines():
            _log, name, text = (*line.split(" ", 2), "", "")[:3]
            self.console.show(name, text)
        if not received and not self.is_stopping:
            self.selector.unregister(self.services_connection.connection)
            self.services_connection.close(has_keeper_ended=True)
            self.services_connection = None
            self.console.show("up", "the keeper of the services is gone, starting another")
            self._take_services()

    # migrations, static files, demo

    def _prepare(self) -> None:
        command = [sys.executable, "manage.py", "up", "--prepare"]
        if not self.plan.has_demo:
            command.append("--no-demo")
        process = subprocess.Popen(  # noqa: S603
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            **self._options(),
        )
        with process, process.stdout as output:  # type: ignore[union-attr]
            self.selector.register(output, selectors.EVENT_READ, lambda: None)
            self._show_until_end(process, output)
            self.selector.unregister(output)
        if process.returncode != 0 and not self.is_stopping:
            raise CannotStartError("the database could not be prepared, see above")

    def _show_until_end(self, process: subprocess.Popen[bytes], output: IO[bytes]) -> None:
        unfinished = b""
        while received := self._next_output(process, output):
            *lines, unfinished = (unfinished + received).split(b"\n")
            for line in lines:
                self.console.keep("prepare", line.decode(errors="replace"))
        if unfinished:
            self.console.keep("prepare", unfinished.decode(errors="replace"))

    def _next_output(self, process: subprocess.Popen[bytes], output: IO[bytes]) -> bytes:
        while True:
            events = self.selector.select()
            if self.is_stopping:
                process.terminate()
                return b""
            for key, _ in events:
                key.data()
            if any(key.fileobj is output for key, _ in events):
                return os.read(output.fileno(), 65536)

    # children

    def _choose_account(self) -> None:
        """Choose the user of the children, because web processes should not run as root."""
        if self.is_stopping:
            return
        names = embedded.missing_services()
        self.account = choose_account(self.plan.home, self.environment, names)
        if self.account.why_root:
            why = f"web, worker and beat run as root: {self.account.why_root}. To change that, "
            self.console.show("up", f"WARNING: {why}{REMEDY}.")
        elif self.account.user:
            self.console.show("up", f"web, worker and beat run as user id {self.account.user.uid}")

    def _start_children(self) -> None:
        python = [sys.executable, "-m"]
        celery = [*python, "celery", "--app", "engram.celery", "--quiet"]
        web = [*python, "engram.supervisor.web", str(self.listener.fileno())]
        quiet = ["--loglevel", "INFO", "--without-gossip", "--without-mingle"]
        schedule = str(application_folder(self.plan.home) / "celerybeat-schedule")
        beat = [*celery, "beat", "--schedule", schedule, "--pidfile", "", "--loglevel", "WARNING"]
        numbers = range(1, self.plan.web_processes + 1)
        names = ["web"] if self.plan.web_processes == 1 else [f"web-{n}" for n in numbers]
        for name in names:
            self._add(name, web, pass_fds=[self.listener.fileno()])
        for name, launcher, options in workers(self.plan):
            self._add(name, [*launcher, *celery, "worker", *options, *quiet])
        self._add("beat", beat)

    def _add(self, name: str, command: list[str], **more: Any) -> None:
        def report(line: str, is_ours: bool) -> None:
            self.console.keep(name, f"[{line}]" if is_ours else line)

        child = Child(
            name,
            prepare=lambda: (command, {**self._child_options(), **more}),
            report=report,
            selector=self.selector,
        )
        self.children.append(child)

    def _options(self) -> dict[str, Any]:
        """Return the `Popen` options of children: own process group, ending with the supervisor."""
        return {
            "cwd": SOURCE,
            "start_new_session": True,
            "preexec_fn": die_with_parent(signal.SIGKILL),
        }

    def _child_options(self) -> dict[str, Any]:
        return {**self._options(), **self.account.options(self.environment)}

    def _watch(self) -> None:
        probe = ReadinessProbe(self._own_address(), self.selector)
        has_been_ready = False
        while not self.is_stopping:
            for child in self.children:
                child.look_after()
            if not has_been_ready:
                probe.look()
                self._give_up_when_hopeless()
                if probe.is_ready:
                    has_been_ready = True
                    self._greet()
                elif complaint := probe.new_complaint():
                    self.console.show("up", f"not ready yet: {complaint}")
            for key, _events in self.selector.select(self._sleep_seconds(has_been_ready)):
                key.data()
        probe.close()

    def _sleep_seconds(self, has_been_ready: bool) -> float | None:
        waits = [child.seconds_to_next_start() for child in self.children]
        known = [wait for wait in waits if wait is not None]
        if not has_been_ready:
            known.append(PROBE_PAUSE_SECONDS)
        return min(known, default=None)

    def _give_up_when_hopeless(self) -> None:
        for child in self.children:
            if child.failures >= GIVE_UP_FAILURES:
                log = self.plan.home / "logs" / f"{child.name}.log"
                raise CannotStartError(f"{child.name} does not start, see above and {log}")

    def _own_address(self) -> tuple[str, int]:
        anywhere = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104
        return anywhere.get(self.plan.host, self.plan.host), self.plan.port

    def _greet(self) -> None:
        url = own_url(self.plan.host, self.plan.port)
        demo = read_demo(self.plan.home) if self.plan.has_demo else {}
        # Output that is not a terminal is a file or a journal, which others may read.
        secrets_file = None if self.console.is_terminal else self.plan.home / "demo.json"
        own_home = os.environ.get("ENGRAM_HOME", "")
        for line in greeting(url, demo, secrets_file, own_home):
            self.console.show("up", line)

    def _stop(self) -> None:
        running = [child for child in self.children if child.process is not None]
        if running:
            self.console.show("up", "stopping")
        for child in running:
            child.ask_to_stop()
        deadline = time.monotonic() + STOP_SECONDS
        for child in running:
            child.wait_for_end(deadline)
        if self.services_connection is not None:
            self.services_connection.release()
        self.listener.close()
        if running:
            self.console.show("up", "stopped")
