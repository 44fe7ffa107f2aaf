"""The options of `up`, and the lock and port that are taken before anything is started."""

from __future__ import annotations

import argparse
import fcntl
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from engram.embedded.places import make_home

GLANCE_SECONDS = 0.3  # checks for a running supervisor hold the lock briefly


class CannotStartError(Exception):
    """Engram cannot start; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run, and where."""

    home: Path
    host: str
    port: int
    web_processes: int
    worker_processes: int
    has_demo: bool
    has_model: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options; each has an environment variable."""
    variables = os.environ
    parser.add_argument(
        "--host", default=variables.get("ENGRAM_HOST", "127.0.0.1"), help="ENGRAM_HOST"
    )
    parser.add_argument(
        "--port",
        default=variables.get("ENGRAM_PORT", "8000"),
        type=_port,
        help="ENGRAM_PORT; 0 takes any free one",
    )
    parser.add_argument(
        "--web-processes",
        default=variables.get("ENGRAM_WEB_PROCESSES", "1"),
        type=_count,
        help="ENGRAM_WEB_PROCESSES",
    )
    parser.add_argument(
        "--worker-processes",
        default=variables.get("ENGRAM_WORKER_PROCESSES", "2"),
        type=_count,
        help="ENGRAM_WORKER_PROCESSES",
    )
    parser.add_argument(
        "--no-demo",
        action="store_true",
        default=not wants_demo(variables),
        help="do not make the demo workspace; ENGRAM_DEMO=0, and always so in production",
    )


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (0 to 65535)")
    return int(text)


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 64:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes (1 to 64)")
    return int(text)


def wants_demo(environment: Mapping[str, str]) -> bool:
    """Return whether the demo is loaded: not in production, and not if it is disabled."""
    is_production = environment.get("ENGRAM_ENV") == "production"
    return not is_production and environment.get("ENGRAM_DEMO", "1") != "0"


def names_model(environment: Mapping[str, str]) -> bool:
    """Return whether the environment configures a language model, as settings read it."""
    has_endpoint = environment.get("OPENAI_API_KEY") or environment.get("OPENAI_BASE_URL")
    return bool(has_endpoint) and environment.get("ENGRAM_MODEL") != ""


def claim_home(home: Path) -> IO[str]:
    """Take the lock of the home's supervisor; it is held as long as the file is open."""
    make_home(home)
    try:
        lock = _lock_path(home).open("a+")
    except OSError as error:
        raise CannotStartError(f"{_lock_path(home)}: {error.strerror}") from None
    deadline = time.monotonic() + GLANCE_SECONDS
    while running := _read_owner(lock):
        if time.monotonic() < deadline:
            time.sleep(0.05)
            continue
        lock.close()
        raise CannotStartError(f"Engram already runs with {home}: {running}")
    lock.truncate(0)
    return lock


def running_supervisor(home: Path) -> str | None:
    """Return the description of the running supervisor of a home, if any."""
    try:
        with _lock_path(home).open("r+") as lock:
            return _read_owner(lock)
    except FileNotFoundError:
        return None


def _lock_path(home: Path) -> Path:
    return home / "up.lock"


def _read_owner(lock: IO[str]) -> str | None:
    """Lock the file; if another process holds the lock, return what it wrote."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        return lock.read().strip() or "it is just starting"
    return None


def listen(host: str, port: int) -> socket.socket:
    """Bind the listening socket that the web processes inherit."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise CannotStartError(
            f"port {port} on {host} cannot be used: {error.strerror}. Stop what uses it, or "
            f"choose another one: ENGRAM_PORT={port + 1 if port < 65535 else 0} make up"
        ) from None
    listener.set_inheritable(True)
    return listener
