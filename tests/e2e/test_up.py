"""`manage.py up` as a person uses it: started, asked, hurt, stopped, started again."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg
import pytest

from tests.homes import (
    ENVIRONMENT,
    PATIENCE_SECONDS,
    SOURCE,
    eventually,
    pids,
    processes_of,
    throw_away,
)
from tests.prepared_home import prepare


def run_manage(home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=SOURCE,
        env={**ENVIRONMENT, "ENGRAM_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


class Up:
    """A supervisor in a process of its own, and what it printed."""

    def __init__(
        self,
        home: Path,
        *,
        command: Sequence[str] = (sys.executable,),
        port: int = 0,
        **environment: str,
    ) -> None:
        self.home = home
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [*command, "manage.py", "up", "--port", str(port), "--no-demo"],
            cwd=SOURCE,
            env={**ENVIRONMENT, "ENGRAM_HOME": str(home), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        self.lines.extend(line.rstrip() for line in self.process.stdout)

    def printed(self, pattern: str) -> list[str]:
        return [line for line in list(self.lines) if re.search(pattern, line)]

    def wait_until_ready(self) -> "Up":
        eventually(lambda: self.printed("Engram is ready") or self.process.poll() is not None)
        is_ready = self.printed("Engram is ready") != []
        if not is_ready:
            self.end_with(signal.SIGKILL)  # a fixture that fails here has nothing to end
        assert is_ready, self.lines
        return self

    @property
    def url(self) -> str:
        return self.printed("Engram is ready")[0].split(": ")[-1].rstrip("/")

    def answers(self) -> bool:
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def end_with(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        try:
            return self.process.wait(timeout=PATIENCE_SECONDS)
        finally:
            self._reader.join(timeout=5)
            self.process.stdout.close()


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with throw_away(tmp_path_factory.mktemp("up") / "a home") as home:
        up = Up(prepare(home)).wait_until_ready()
        yield up
        if up.process.poll() is None:
            up.end_with(signal.SIGKILL)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with throw_away(tmp_path / "home") as home:
        yield home


WEB, BEAT = r"engram\.supervisor\.web", r"celery .* beat"
WORKER = r"celery .* worker --hostname=worker@"  # one of several
POSTGRES, REDIS, KEEPER = r"bin/postgres -D", r"redis-server", r"-m engram\.embedded"


def test_up_runs_every_process_and_is_ready(up: Up) -> None:
    assert up.answers()
    counts = {
        pattern: len(pids(up.home, pattern)) for pattern in (WEB, BEAT, POSTGRES, REDIS, KEEPER)
    }
    assert counts == {WEB: 1, BEAT: 1, POSTGRES: 1, REDIS: 1, KEEPER: 1}
    assert eventually(lambda: len(pids(up.home, WORKER)) == 2)  # and its child


def test_small_answers_do_not_wait_for_an_acknowledgement(up: Up) -> None:
    connection = http.client.HTTPConnection(up.url.removeprefix("http://"), timeout=5)

    def seconds() -> float:
        started = time.monotonic()
        connection.request("GET", "/healthz")
        assert connection.getresponse().read()
        return time.monotonic() - started

    # With Nagle's algorithm on, every answer takes 40 ms; without, one does not, on a busy machine.
    assert eventually(lambda: seconds() < 0.03)
    connection.close()


def test_second_up_on_the_same_home_names_the_first(up: Up) -> None:
    second = run_manage(up.home, "up", "--port", "0")
    assert (second.returncode, second.stdout) == (1, "")
    assert second.stderr == (
        f"engram: Engram already runs with {up.home}: {up.url} (process {up.process.pid})\n"
    )


def test_doctor_finds_the_running_worker(up: Up) -> None:
    def is_served() -> bool:  # workers start after web
        return run_manage(up.home, "doctor", "--json").returncode == 0

    eventually(is_served)
    done = run_manage(up.home, "doctor", "--json")
    levels = {finding["name"]: finding["level"] for finding in json.loads(done.stdout)}
    if os.geteuid() == 0:  # who may run this Python depends on the machine: test_up_as_root.py
        del levels["user"]
    assert (done.returncode, set(levels.values())) == (0, {"ok"}), done.stdout
    assert up.answers()


@pytest.mark.parametrize("pattern", [WEB, WORKER, BEAT, POSTGRES, REDIS, KEEPER])
def test_killed_process_is_started_again(up: Up, pattern: str) -> None:
    before = pids(up.home, pattern)
    os.kill(min(before), signal.SIGKILL)

    def is_back() -> bool:
        return len(pids(up.home, pattern)) == len(before) and not pids(up.home, pattern) & before

    assert eventually(is_back), up.lines[-20:]
    assert eventually(up.answers), up.lines[-20:]


def test_killed_supervisor_leaves_no_process_and_the_next_continues(home: Path) -> None:
    first = Up(home).wait_until_ready()
    run = json.loads((home / "services.json").read_text())["run"]
    url = f"postgresql://engram@/engram?host={run}"
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
    first.end_with(signal.SIGKILL)
    assert eventually(lambda: processes_of(home) == {}), processes_of(home)

    second = Up(home).wait_until_ready()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT value FROM kept").fetchall() == [(7,)]
    assert second.end_with(signal.SIGTERM) == 0
    assert eventually(lambda: processes_of(home) == {}), processes_of(home)
    assert second.printed("Traceback") == []
    # A warm start prepares nothing again.
    assert [len(up.printed("static files collected")) for up in (first, second)] == [1, 0]


def test_interrupt_during_preparation_stops_everything(home: Path) -> None:
    up = Up(home)
    assert eventually(lambda: up.printed("services are ready"))
    assert up.end_with(signal.SIGINT) == 0
    assert eventually(lambda: processes_of(home) == {})
    assert up.printed("Traceback|KeyboardInterrupt") == []


def test_taken_port_is_named_before_anything_starts(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = run_manage(home, "up", "--port", str(port))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"engram: port {port} on 127.0.0.1 cannot be used: Address already in use. Stop what uses "
        f"it, or choose another one: ENGRAM_PORT={port + 1} make up\n"
    )
    assert not (home / "services.json").exists()


def test_unreachable_database_is_named(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "up", "--port", "0"],
        cwd=SOURCE,
        env={
            **ENVIRONMENT,
            "ENGRAM_HOME": str(home),
            "DATABASE_URL": "postgres://engram@127.0.0.1:1/engram",
            "BROKER_URL": "redis://127.0.0.1:1/0",
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert "the database does not answer" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_missing_broker_is_named_while_waiting_for_it(home: Path) -> None:
    up = Up(prepare(home), BROKER_URL="redis://127.0.0.1:1/0")
    assert eventually(lambda: up.printed("not ready yet: broker: ")), up.lines
    assert up.end_with(signal.SIGTERM) == 0


@pytest.mark.parametrize("port", ["http", "-1", "65536", "1e3"])
def test_port_that_is_none_is_refused(home: Path, port: str) -> None:
    done = run_manage(home, "up", f"--port={port}")
    assert done.returncode == 2
    assert f"argument --port: {port!r} is not a port (0 to 65535)" in done.stderr
