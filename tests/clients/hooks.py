"""Runs the coding agent's hooks as the agent does: a process for each event, JSON on its input."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.homes import PATIENCE_SECONDS, SOURCE, eventually
from tests.local_server import serve, stop

FOLDER = SOURCE / "clients" / "claude-code"
RECORDED = Path(__file__).parent / "agent"
PAYLOADS = json.loads((RECORDED / "payloads.json").read_text(encoding="utf-8"))
PATIENT = str(PATIENCE_SECONDS * 1000)
KEY = "egr_secret-of-the-hooks"


def recorded(event: str, **having: str) -> dict[str, Any]:
    """Return the first recorded payload of an event that has these values."""
    for payload in [*PAYLOADS["payloads"], *PAYLOADS["documented"]]:
        if payload["hook_event_name"] == event and having.items() <= payload.items():
            return dict(payload)
    raise LookupError(event)


class Home:
    """A user's home with a project, an agent's settings and the hooks' files."""

    def __init__(self, folder: Path):
        self.path = folder
        self.project = folder / "shop"
        self.state = folder / ".engram-claude-code"
        self.transcript = folder / "transcript.jsonl"
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/refunds\n")
        (self.project / "README.md").write_text("# Shop\n\nThe web shop of a small company.\n")
        shutil.copy(RECORDED / "transcript.jsonl", self.transcript)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the agent: nothing of the hooks, and no key."""
        return {"HOME": str(self.path), "PATH": os.environ["PATH"]}

    def install(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the installer in the project's folder."""
        return subprocess.run(
            [sys.executable, str(FOLDER / "install.py"), *arguments],
            cwd=self.project,
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )

    def settings(self, name: str = "settings.json", *, of: Path | None = None) -> dict[str, Any]:
        """Return the agent's settings."""
        found: dict[str, Any] = json.loads(
            ((of or self.path) / ".claude" / name).read_text(encoding="utf-8")
        )
        return found

    def payload(self, event: str, **having: str) -> dict[str, Any]:
        """Return a recorded payload with the paths of this home."""
        return recorded(event, **having) | {
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
        }

    def fire(
        self, payload: dict[str, Any] | str, *, deadline_ms: str | None = PATIENT
    ) -> dict[str, Any]:
        """Run the installed command of an event as the agent does; return what it prints.

        Without a deadline the hook's own holds. The hook must end with 0 and say nothing else.
        """
        event = payload["hook_event_name"] if isinstance(payload, dict) else "UserPromptSubmit"
        done = subprocess.run(  # noqa: S602  as the agent runs it
            self.settings()["hooks"][event][-1]["hooks"][-1]["command"],
            shell=True,
            cwd=self.project,
            env=self.environment
            | ({"ENGRAM_HOOKS_DEADLINE_MS": deadline_ms} if deadline_ms else {}),
            input=payload if isinstance(payload, str) else json.dumps(payload),
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout) if done.stdout else {}

    def context(self, payload: dict[str, Any]) -> str:
        """Fire an event; return the text that it gives the agent."""
        printed = self.fire(payload)
        if not printed:
            return ""
        said: dict[str, str] = printed["hookSpecificOutput"]
        assert said["hookEventName"] == payload["hook_event_name"]
        return said["additionalContext"]

    def senders(self) -> list[int]:
        """Return the processes that send what waits here."""
        mine = f"HOME={self.path}\0".encode()
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    command = (folder / "cmdline").read_bytes()
                    is_mine = mine in (folder / "environ").read_bytes()
                except OSError:
                    continue
                if is_mine and b"--send" in command:
                    found.append(int(folder.name))
        return found

    def end_senders(self) -> None:
        """Kill the processes that would go on sending, and wait for their end."""
        for process in self.senders():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        assert eventually(lambda: not self.senders())

    def waiting(self, folder: str = "spool") -> list[Path]:
        """Return the transcripts that wait."""
        return sorted((self.state / folder).glob("*.json"))

    def is_sent(self) -> bool:
        """Wait until nothing is left to be sent."""
        return eventually(lambda: not self.waiting())


Answer = tuple[int, dict[str, Any]]


class StandIn:
    """A service with scripted answers, which keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.keys: set[str | None] = set()
        self.answers: dict[str, Callable[[dict[str, Any]], Answer]] = {}
        self.is_stalled = threading.Event()
        self.may_go_on = threading.Event()
        self.url = ""

    def answer(self, path: str, body: dict[str, Any]) -> Answer:
        """Answer a call: by the script for the end of its path, else like an empty service."""
        for end, scripted in self.answers.items():
            if path.endswith(end):
                return scripted(body)
        return 200, {"memories": [], "results": [], "text": ""}

    def bodies(self, end: str) -> list[dict[str, Any]]:
        """Return the bodies of the calls whose path ends so."""
        return [body for path, body in self.asked if path.endswith(end)]


def problem(status: int, cause: str) -> Answer:
    """Return a refusal."""
    return status, {"type": f"/problems/{cause}", "title": cause, "status": status}


@contextmanager
def stand_in() -> Iterator[StandIn]:
    """Serve a stand-in on a free port."""
    service = StandIn()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            service.asked.append((self.path, body))
            service.keys.add(self.headers["Authorization"])
            status, answer = service.answer(self.path, body)
            written = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:  # a caller that has gone is expected
            pass

    server = Server(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = serve(server)
    try:
        yield service
    finally:
        service.may_go_on.set()
        stop(server, thread)
