"""Terminal output: the lines of all processes, and the greeting."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Any

from engram.embedded.logs import rotating_log
from engram.supervisor.snippets import lines_of

COLOURS = {
    "up": 1,
    "web": 36,
    "worker": 32,
    "bulk": 32,
    "models": 32,
    "outgoing": 32,
    "beat": 33,
    "postgres": 34,
    "redis": 35,
}


class Console:
    """Prints lines with time and origin, coloured on a terminal, and writes them to log files."""

    def __init__(self, home: Path) -> None:
        self._logs = home / "logs"
        self._files: dict[str, Any] = {}
        self.is_terminal = sys.stdout.isatty()
        self._is_coloured = self.is_terminal and "NO_COLOR" not in os.environ

    def show(self, name: str, line: str) -> None:
        """Print a line; ignore a closed output."""
        prefix = f"{time.strftime('%H:%M:%S')} {name:<9}| "
        if self._is_coloured:
            prefix = f"\x1b[{COLOURS.get(name.partition('-')[0], 37)}m{prefix}\x1b[0m"
        with suppress(OSError):
            print(prefix + line, flush=True)  # noqa: T201 (this is its work)

    def keep(self, name: str, line: str) -> None:
        """Print a line and write it to the log file of its origin."""
        if name not in self._files:
            self._files[name] = rotating_log(self._logs / f"{name}.log")
        self._files[name].info("%s", line)
        self.show(name, line)


_OWN = (
    "createsuperuser --username NAME",
    "create_workspace team --admin NAME",
    "create_key --workspace team",
)


def own_url(host: str, port: int) -> str:
    """Return the URL for a browser on this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def read_demo(home: Path) -> dict[str, str]:
    """Return the demo's user, password and keys."""
    try:
        found = json.loads((home / "demo.json").read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return {str(key): str(value) for key, value in found.items()}


def greeting(
    url: str, demo: dict[str, str], secrets_file: Path | None = None, own_home: str = ""
) -> list[str]:
    """Return the greeting: the URL, user, key and a first call.

    With `secrets_file` it names the file with password and keys instead of showing them. Without a
    demo it says how to make a user, a workspace and a key. `own_home` is what `ENGRAM_HOME` was set
    to, which the commands need as well.
    """
    setting = f"ENGRAM_HOME={quote(own_home)} " if own_home else ""
    command = f"    {setting}.venv/bin/python manage.py"
    lines = ["", f"Engram is ready: {url}/", f"  API description  {url}/api/docs/"]
    if not demo:
        lines += ["", "  A user, a workspace and a key of your own:"]
        lines += [f"{command} {arguments}" for arguments in _OWN]
    elif secrets_file is not None:
        lines.append(f"  user and keys    are in {secrets_file}")
        demo = {}
    if "username" in demo:
        lines.append(f"  sign in as       {demo['username']} / {demo.get('password', '')}")
    if key := demo.get("api_key"):
        lines += [
            f"  API key          {key}",
            "",
            "  A first call:",
            f"    curl -s {url}/api/v1/memories/recall \\",
            f"      -H 'Authorization: Bearer {key}' \\",
            "      -H 'Content-Type: application/json' \\",
            """      -d '{"query": "how are booking events sent?", "k": 3}'""",
        ]
    lines += ["", "  Agents connect by the Model Context Protocol:"]
    if key := demo.get("agent_key"):
        lines += lines_of(url, key, "    ")
    lines.append(f"{command} mcp --snippets   # shows how")
    return [*lines, "", "Ctrl-C stops everything; the next start continues with the data.", ""]
