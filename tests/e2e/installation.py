"""An installation in a home of its own: its commands, and what a caller of its API is told."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engram import embedded
from tests.homes import ENVIRONMENT, PATIENCE_SECONDS, SOURCE, eventually, processes_of

# Calls the API without a web process: lines of JSON in, [key, calls], one out for each, the
# answers. Between them it is no user of the database.
CALLS = """
import json, sys
import django
django.setup()
from django.db import connection
from django.test import Client
for line in sys.stdin:
    key, calls = json.loads(line)
    client = Client(headers={"Authorization": "Bearer " + key, "Host": "localhost"})
    answers = []
    for method, path, body in calls:
        send = getattr(client, method.lower())
        url = "/api/v1/" + path
        done = send(url) if body is None else send(url, body, content_type="application/json")
        assert done.status_code < 300, (path, done.status_code, done.content)
        answers.append(done.json())
    connection.close()
    connection.close_pool()
    print("answers", json.dumps(answers), flush=True)
"""


@dataclass
class Installation:
    """A home, and a key that opens its workspace."""

    home: Path
    key: str = ""
    _caller: subprocess.Popen[str] | None = None

    def manage(self, *arguments: str, typed: str = "", **environment: str) -> Any:
        """Run a command of `manage.py`; return what it did."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=SOURCE,
            env={**ENVIRONMENT, "ENGRAM_HOME": str(self.home), **environment},
            input=typed,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def done(self, *arguments: str, typed: str = "") -> str:
        """Run a command that must succeed; return what it printed."""
        ran = self.manage(*arguments, typed=typed)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return str(ran.stdout)

    def refused(self, *arguments: str, typed: str = "", **environment: str) -> str:
        """Run a command that must refuse; return its reason."""
        ran = self.manage(*arguments, typed=typed, **environment)
        assert ran.returncode == 1, ran.stdout + ran.stderr
        assert "Traceback" not in ran.stderr
        return str(ran.stderr)

    def call(self, *calls: tuple[str, str, Any]) -> list[Any]:
        """Return the answers of calls of the API: method, path, body or None."""
        if self._caller is None:
            self._caller = self._start_caller()
        assert self._caller.stdin is not None
        assert self._caller.stdout is not None
        self._caller.stdin.write(json.dumps([self.key, calls]) + "\n")
        self._caller.stdin.flush()
        late = threading.Timer(PATIENCE_SECONDS, self._caller.kill)
        late.start()
        for line in self._caller.stdout:  # what it logs comes as well
            if line.startswith("answers "):
                late.cancel()
                answers: list[Any] = json.loads(line.removeprefix("answers "))
                return answers
        late.cancel()
        raise AssertionError((self.home / "caller.log").read_text())

    def _start_caller(self) -> subprocess.Popen[str]:
        services = embedded.ensure(self.home)
        (self.home / "static").mkdir(exist_ok=True)
        with (self.home / "caller.log").open("w") as log:
            return subprocess.Popen(
                [sys.executable, "-c", CALLS],
                cwd=SOURCE,
                env={
                    **ENVIRONMENT,
                    "ENGRAM_HOME": str(self.home),
                    "DJANGO_SETTINGS_MODULE": "engram.settings",
                    "DATABASE_URL": services.database_url,
                    "BROKER_URL": services.broker_url,
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def stop(self) -> None:
        """Release the servers that this process holds, and wait for their end."""
        if self._caller is not None:
            self._caller.communicate()
        for key in [key for key in embedded._connections if key[0] == self.home.resolve()]:
            embedded._connections.pop(key).release()
        assert eventually(lambda: not processes_of(self.home)), processes_of(self.home)
