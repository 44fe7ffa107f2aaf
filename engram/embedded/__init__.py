"""Run PostgreSQL and Redis from installed packages, if no URLs of real servers are set.

`ensure(home)` returns URLs of running services and keeps them running until this process ends,
however it ends. Any number of processes may call it: the first starts a keeper (`keeper.py`), the
others connect to it, and it stops after the last one. Does not import Django.
"""

from __future__ import annotations

import atexit
import os
from pathlib import Path

from engram.embedded.broker import redis_client_url
from engram.embedded.keeper_connection import KeeperConnection, Services
from engram.embedded.postgres import MAX_CONNECTIONS
from engram.embedded.privileges import EmbeddedServicesError

__all__ = [
    "MAX_CONNECTIONS",
    "EmbeddedServicesError",
    "KeeperConnection",
    "Services",
    "ensure",
    "export_environment",
    "held_services",
    "home_folder",
    "missing_services",
    "redis_client_url",
    "release",
]

VARIABLES = {"postgres": "DATABASE_URL", "redis": "BROKER_URL"}
EVERYTHING = frozenset(VARIABLES)

_connections: dict[tuple[Path, frozenset[str]], KeeperConnection] = {}


def home_folder() -> Path:
    """Return the absolute ENGRAM_HOME; unset, it is `.engram` beside the source."""
    named = os.environ.get("ENGRAM_HOME")
    source = Path(__file__).resolve().parent.parent.parent
    return Path(named).expanduser().resolve() if named else source / ".engram"


def ensure(home: Path, names: frozenset[str] = EVERYTHING) -> Services:
    """Return the running services of a home, and keep them running until this process ends."""
    key = (home.resolve(), names)
    if key not in _connections:
        _connections[key] = KeeperConnection.open(home, names)
    return _connections[key].services


def release() -> None:
    """Release all services of this process; they stop after the last process."""
    while _connections:
        _connections.popitem()[1].release()


atexit.register(release)


def missing_services() -> frozenset[str]:
    """Return the services without a URL in the environment."""
    return frozenset(name for name, variable in VARIABLES.items() if not os.environ.get(variable))


def held_services() -> frozenset[str]:
    """Return the services that this process holds."""
    return frozenset().union(*(names for _home, names in _connections))


def export_environment(home: Path | None = None) -> None:
    """Start the missing services, and export DATABASE_URL and BROKER_URL to child processes.

    A test run calls this before settings are loaded; its parallel workers inherit the variables.
    """
    home = home or home_folder()
    os.environ["ENGRAM_HOME"] = str(home)
    missing = missing_services()
    if not missing:
        return
    services = ensure(home, missing)
    if "postgres" in missing:
        os.environ["DATABASE_URL"] = services.database_url
    if "redis" in missing:
        os.environ["BROKER_URL"] = services.broker_url
