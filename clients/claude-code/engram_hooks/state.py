"""Files of the hooks, for their owner only: settings, sessions, what waits, a log without texts."""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from typing import Any

HOME_VARIABLE = "ENGRAM_HOOKS_HOME"
CONFIG = "config.json"
DOWN = "down"
LOG = "log"
LOG_MAX_BYTES = 200_000
DOWN_SECONDS = 10.0
DOWN_MAX_SECONDS = 300.0
SESSIONS_KEPT = 100
DEFAULTS: dict[str, Any] = {
    "project": "",
    "extract": False,
    "recall_k": 5,
    "k": 10,
    "budget_chars": 4000,
}
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def home() -> str:
    """Return the folder of all files."""
    return os.environ.get(HOME_VARIABLE) or os.path.join(
        os.path.expanduser("~"), ".engram-claude-code"
    )


def path(*parts: str) -> str:
    """Return the path of a file; its folder is made, for the owner only."""
    folder = os.path.join(home(), *parts[:-1])
    if not os.path.isdir(folder):
        for made in {home(), folder}:
            os.makedirs(made, mode=0o700, exist_ok=True)
            os.chmod(made, 0o700)
    return os.path.join(folder, parts[-1])


def write(text: str, *parts: str) -> None:
    """Write a file that only its owner can read, at once or not at all."""
    target = path(*parts)
    part = f"{target}.{os.getpid()}.part"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, target)
    except BaseException:
        os.unlink(part)
        raise


def read(*parts: str) -> dict[str, Any]:
    """Return the JSON object in a file; empty when there is none."""
    try:
        with open(os.path.join(home(), *parts), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def remove(*parts: str) -> None:
    """Remove a file, if it is there."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(home(), *parts))


def names(folder: str) -> list[str]:
    """Return the names of the JSON files in a folder, oldest first."""
    try:
        with os.scandir(os.path.join(home(), folder)) as entries:
            found = [
                (entry.stat().st_mtime, entry.name)
                for entry in entries
                if entry.name.endswith(".json")
            ]
    except OSError:
        return []
    return [name for _, name in sorted(found)]


def remove_parts(before: float) -> None:
    """Remove what was written in part by processes that ended before a time."""
    for folder, _, files in os.walk(home()):
        for name in files:
            target = os.path.join(folder, name)
            with suppress(OSError):
                if name.endswith(".part") and os.path.getmtime(target) < before:
                    os.unlink(target)


def log(line: str) -> None:
    """Add a line to the log; it has codes and numbers, never texts or keys."""
    target = path(LOG)
    with suppress(OSError):
        if os.path.getsize(target) > LOG_MAX_BYTES:
            os.replace(target, target + ".old")
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(time.strftime("%Y-%m-%dT%H:%M:%SZ ", time.gmtime()) + line + "\n")


def root_at(folder: str) -> str:
    """Return the project whose settings hold in a folder: the nearest above it that has some.

    "": the settings for all projects.
    """
    projects = read(CONFIG).get("projects")
    place = os.path.realpath(folder) if folder else ""
    while place and isinstance(projects, dict):
        if place in projects:
            return place
        above = os.path.dirname(place)
        place = above if above != place else ""
    return ""


def settings_of(root: str) -> dict[str, Any] | None:
    """Return the settings of a project's folder, or for all projects (""); None: send nothing."""
    config = read(CONFIG)
    found = config.get("projects", {}).get(root) if root else config.get("default")
    if not isinstance(found, dict) or not found.get("url") or not found.get("key"):
        return None
    return {**DEFAULTS, **found, "root": root}


def session_name(session_id: str) -> str:
    """Return a session's id as a name for files and for Engram."""
    if _PLAIN.fullmatch(session_id):
        return session_id
    return digest(session_id)[:32]


def digest(text: str) -> str:
    """Return a digest of a text, as hexadecimal digits."""
    import hashlib

    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def keep_session(record: dict[str, Any]) -> None:
    """Store what is known of a session of the agent."""
    write(json.dumps(record), "sessions", session_name(record["session_id"]) + ".json")


def session(session_id: str) -> dict[str, Any]:
    """Return what is known of a session; empty for a new one."""
    return read("sessions", session_name(session_id) + ".json")


def is_down(root: str) -> bool:
    """Return whether the service did not answer a short time ago."""
    until = read(_down(root)).get("until")
    left = until - time.time() if isinstance(until, (int, float)) else 0.0
    return 0.0 < left <= DOWN_MAX_SECONDS


def note_down(root: str, at_least: float = 0.0) -> None:
    """Remember for a short time that the service does not answer; longer each time."""
    times = read(_down(root)).get("times")
    times = times if isinstance(times, int) else 0
    seconds = max(at_least, DOWN_SECONDS * 2 ** min(times, 10))
    until = time.time() + min(seconds, DOWN_MAX_SECONDS)
    write(json.dumps({"until": until, "times": times + 1}), _down(root))


def note_up(root: str) -> None:
    """Remember that the service answers."""
    remove(_down(root))


def _down(root: str) -> str:
    return f"{DOWN}-{digest(root)[:12]}" if root else DOWN
