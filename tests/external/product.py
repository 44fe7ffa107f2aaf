"""The product as an operator starts it: web processes, workers and a scheduler, by URLs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from engram.embedded.privileges import die_with_parent
from tests.external.servers import START_SECONDS, ServerError, free_port, stop
from tests.homes import ENVIRONMENT, SOURCE

WEBS = WORKERS = 2


@dataclass
class Product:
    """What runs: addresses of web processes, ids of workers, a key of each role."""

    webs: list[str] = field(default_factory=list)
    workers: list[int] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Return what tests are told."""
        return {
            "ENGRAM_EXTERNAL_WEBS": " ".join(self.webs),
            "ENGRAM_EXTERNAL_WORKERS": " ".join(map(str, self.workers)),
            **{f"ENGRAM_EXTERNAL_{role.upper()}": key for role, key in self.keys.items()},
        }


@contextmanager
def product(folder: Path, urls: dict[str, str]) -> Iterator[Product]:
    """Prepare the database, and run two web processes, two workers and a scheduler."""
    environment = {
        **ENVIRONMENT,
        **urls,
        "ENGRAM_HOME": str(folder / "home"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    running = Product()
    _manage(environment, "up", "--prepare", "--no-demo")
    _manage(environment, "create_workspace", "external")
    for role in ("agent", "reviewer", "admin"):
        made = _manage(environment, "create_key", "--workspace", "external", "--role", role)
        running.keys[role] = made.strip()
    with ExitStack() as stack:

        def start(name: str, *command: str) -> subprocess.Popen[bytes]:
            log = stack.enter_context((folder / f"{name}.log").open("wb"))
            process = subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=SOURCE,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent(signal.SIGTERM),  # noqa: PLW1509 (nothing is imported in it)
            )
            stack.callback(stop, process)
            return process

        celery = ("celery", "--app", "engram.celery", "--quiet")
        for number in range(WORKERS):
            options = ("--hostname", f"worker{number}@%h", "--concurrency", "1")
            worker = start(f"worker{number}", *celery, "worker", *options, "--loglevel", "INFO")
            running.workers.append(worker.pid)
        start("beat", *celery, "beat", "--schedule", str(folder / "schedule"), "--pidfile", "")
        for number in range(WEBS):
            port = free_port()
            serve = ("--host", "127.0.0.1", "--port", str(port), "--no-proxy-headers")
            start(f"web{number}", "uvicorn", "engram.asgi:application", *serve)
            running.webs.append(f"http://127.0.0.1:{port}")
        for url in running.webs:
            _wait_until_ready(url)
        yield running


def _manage(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=SOURCE,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ServerError(f"manage.py {arguments[0]}: {done.stdout}{done.stderr}")
    return done.stdout


def _wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise ServerError(f"{url} is not ready")


def kill_worker(number: int) -> None:
    """Kill a worker and its processes, as an outage of its machine would."""
    pid = int(os.environ["ENGRAM_EXTERNAL_WORKERS"].split()[number])
    os.killpg(pid, signal.SIGKILL)
