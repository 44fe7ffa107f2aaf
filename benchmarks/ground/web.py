"""A web process of its own on the benchmark's database."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.db import connection

PATIENCE_SECONDS = 60


@contextmanager
def web_process() -> Iterator[int]:
    """Run a web process as `make up` does; yield its port when it answers."""
    database = quote(connection.settings_dict["NAME"], safe="")
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{database}").geturl()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        process = subprocess.Popen(
            [sys.executable, "-m", "engram.supervisor.web", str(listener.fileno())],
            cwd=settings.BASE_DIR,
            env=os.environ | {"DATABASE_URL": url},
            pass_fds=[listener.fileno()],
        )
        try:
            port = int(listener.getsockname()[1])
            _wait(port, process)
            yield port
        finally:
            process.terminate()
            try:
                process.wait(timeout=PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            client = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
            client.request("GET", "/api/v1/schema/")
            client.getresponse().read()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit("the web process does not answer")
