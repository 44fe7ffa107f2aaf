"""The product as `make up` runs it, in a home of its own, and the memory of its processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engram import embedded

SOURCE = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 300
KINDS = {"web": r"engram\.supervisor\.web", "worker": r"celery .*worker"}


def manage(*arguments: str) -> list[str]:
    """Return a command of `manage.py`."""
    return [sys.executable, "manage.py", *arguments]


class Product:
    """A running `manage.py up`: its address and its processes."""

    def __init__(self) -> None:
        # As a user starts it: it finds the servers of its home by itself.
        environment = {k: v for k, v in os.environ.items() if k not in embedded.VARIABLES.values()}
        self._process = subprocess.Popen(
            manage("up", "--port", "0", "--no-demo"),
            cwd=SOURCE,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self.address = ""
        self._ready = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        if not self._ready.wait(START_SECONDS) or not self.address:
            self.stop()
            raise SystemExit("\n".join(["the product does not start:", *self.lines[-40:]]))

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self.lines.append(line.rstrip())
            if found := re.search(r"Engram is ready: http://([^/]+)/", line):
                self.address = found[1]
                self._ready.set()
        self._ready.set()

    def resident(self) -> dict[str, dict[str, float]]:
        """Return the memory of web and workers in MB: all of it, and what is not of a file.

        A page that several processes map, as forks do, counts as its part in each (PSS), so that
        the sum counts it once.
        """
        found = {kind: {"pss_mb": 0.0, "pss_anonymous_mb": 0.0} for kind in KINDS}
        for pid in self._descendants():
            try:
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
            except OSError:
                continue
            sizes = dict(line.split(":", 1) for line in lines)
            for kind, pattern in KINDS.items():
                if re.search(pattern, command) and "Pss" in sizes:
                    found[kind]["pss_mb"] += _megabytes(sizes["Pss"])
                    found[kind]["pss_anonymous_mb"] += _megabytes(sizes["Pss_Anon"])
        return {
            kind: {name: round(size, 1) for name, size in sizes.items()}
            for kind, sizes in found.items()
        }

    def _descendants(self) -> set[int]:
        """Return the processes below the supervisor."""
        parents: dict[int, int] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    stat = (entry / "stat").read_text()
                except OSError:
                    continue
                parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
        found = {self._process.pid}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return found - {self._process.pid}

    def stop(self) -> None:
        """Stop everything."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)


def _megabytes(kilobytes: str) -> float:
    return int(kilobytes.split(maxsplit=1)[0]) / 1024


@contextmanager
def running_product() -> Iterator[Product]:
    """Run the product in ENGRAM_HOME, a new folder; afterwards remove what it wrote."""
    home = embedded.home_folder()
    product = Product()
    try:
        yield product
    finally:
        product.stop()
        folders = {home, *_state_folders(home)}
        embedded.release()
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def _state_folders(home: Path) -> set[Path]:
    try:
        return {Path(path) for path in json.loads((home / "services.json").read_text()).values()}
    except FileNotFoundError:
        return set()
