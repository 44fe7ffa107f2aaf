"""Throw-away homes for tests that start the embedded services in processes of their own."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# How long what comes soon is waited for. Only what hangs takes as long, however busy the machine.
PATIENCE_SECONDS = 300
SOURCE = Path(__file__).resolve().parent.parent
ENVIRONMENT = {
    key: value
    for key, value in os.environ.items()
    if key
    not in {"DATABASE_URL", "BROKER_URL", "REDIS_URL", "ENGRAM_HOME", "DJANGO_SETTINGS_MODULE"}
}


@contextmanager
def throw_away(home: Path) -> Iterator[Path]:
    """Give a home to a test, and remove what its services kept elsewhere."""
    try:
        yield home
    finally:
        assert eventually(lambda: not processes_of(home)), processes_of(home)
        for folder in {home, *_recorded(home)}:
            shutil.rmtree(folder, ignore_errors=True)


def _recorded(home: Path) -> set[Path]:
    try:
        return {Path(path) for path in json.loads((home / "services.json").read_text()).values()}
    except FileNotFoundError:
        return set()


def processes_of(home: Path) -> dict[int, str]:
    """Return the living processes that belong to a home, by id."""
    folders = tuple(str(folder) for folder in {home, *_recorded(home)})
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            environment = (entry / "environ").read_bytes().decode(errors="replace")
            places = f"{command} {os.readlink(entry / 'cwd')}"
        except OSError:
            continue
        is_ours = any(folder in places for folder in folders)
        if state != "Z" and (is_ours or f"ENGRAM_HOME={home}\0" in environment):
            found[int(entry.name)] = command
    return found


def pids(home: Path, pattern: str) -> set[int]:
    """Return the processes of a home whose command line matches."""
    return {pid for pid, command in processes_of(home).items() if re.search(pattern, command)}


def eventually(condition: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> bool:
    """Wait until the condition holds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())


def start_python(code: str, home: Path, **environment: str) -> "subprocess.Popen[str]":
    """Run Python code in a process of its own that knows the home and no servers."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=SOURCE,
        env={**ENVIRONMENT, "ENGRAM_HOME": str(home), **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
