"""Choose the user ids of embedded servers and application; bind children to their parent.

PostgreSQL refuses to run as root. For root each home gets its own unused user id, so that neither
other homes nor processes of ``nobody`` can read its files. ``initdb`` and single-user mode need a
user with an account and therefore run once as ``nobody``; the files are then given to the home's
user id. Web, worker and beat get a second user id, with access to the servers' sockets but not to
their files.
"""

from __future__ import annotations

import ctypes
import grp
import os
import pwd
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
# This range is unassigned in systemd's table of user ids: no distribution, no container and no
# dynamic service user uses it.
FREE_IDS = range(60706, 61184)

# Loaded before any fork, because nothing may be imported between fork and exec.
_libc = ctypes.CDLL(None, use_errno=True)


class EmbeddedServicesError(RuntimeError):
    """The embedded services cannot run; the message has the reason and the solution."""


@dataclass(frozen=True, slots=True)
class ServiceUser:
    """The user ids of the servers, when started by root."""

    uid: int
    setup_uid: int
    setup_gid: int


@dataclass(frozen=True, slots=True)
class ApplicationUser:
    """The ids of web, worker and beat, if started by root; the group may enter the sockets."""

    uid: int
    gid: int


def choose_application_user(seed: int, home: Path, data: Path | None) -> ApplicationUser | None:
    """Return the user for web, worker and beat; None if not root or no id is free.

    The owner of an existing application folder, or of a home that is not root's, is used.
    """
    if os.geteuid() != 0:
        return None
    servers = _owner(data) or next(_free_ids(seed), 0)
    spare = next((number for number in _free_ids(seed) if number != servers), None)
    uid = _owner(application_folder(home)) or _owner(home) or spare
    gid = uid if uid in FREE_IDS else spare  # an account's group may have other members
    return ApplicationUser(uid, gid) if uid is not None and gid is not None else None


def application_folder(home: Path) -> Path:
    """Return the folder of a home that web, worker and beat may write to."""
    return home / "application"


def choose_service_user(
    seed: int, existing: Path | None, application: ApplicationUser | None
) -> ServiceUser | None:
    """Return the user for the servers; None if not root.

    The owner of an `existing` data folder is used.
    """
    if os.geteuid() != 0:
        return None
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedServicesError(
            "PostgreSQL does not run as root and this system has no user 'nobody' to set it up: "
            "run as an ordinary user, or set DATABASE_URL and BROKER_URL."
        ) from None
    avoided = application.uid if application else None
    spare = (number for number in _free_ids(seed) if number != avoided)
    uid = _owner(existing) or next(spare, nobody.pw_uid)
    return ServiceUser(uid=uid, setup_uid=nobody.pw_uid, setup_gid=nobody.pw_gid)


def _owner(path: Path | None) -> int:
    """Return the owner of an existing file; 0 if it is root's or missing."""
    return path.stat().st_uid if path and path.exists() else 0


def _free_ids(seed: int) -> Iterator[int]:
    """Yield unused user and group ids, in an order seeded by the home."""
    taken = {entry.pw_uid for entry in pwd.getpwall()} | {g.gr_gid for g in grp.getgrall()}
    for step in range(len(FREE_IDS)):
        number = FREE_IDS[(seed + step) % len(FREE_IDS)]
        if number not in taken and _is_mapped(number):
            yield number


def _is_mapped(uid: int) -> bool:
    """Return whether the id is mapped in this user namespace (containers may map only a few)."""
    try:
        rows = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return True
    spans = [tuple(int(part) for part in row.split()) for row in rows]
    return any(first <= uid < first + count for first, _outside, count in spans)


def can_access(path: Path, mode: int, uid: int) -> bool:
    """Return whether a user may access a path, tested in a child process of that user."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os._exit(0 if os.access(path, mode) else 1)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


def die_with_parent(with_signal: signal.Signals) -> Callable[[], None]:
    """Return a `preexec_fn` that sends the child a signal when its parent dies.

    A change of the user id clears the setting, so it is made after that (`Popen` changes the user
    before it calls `preexec_fn`). It is bound to the *thread* that forked: start long-lived
    children from a thread that lives as long as the process.
    """
    parent = os.getpid()

    def request() -> None:
        if sys.platform != "linux":
            return
        _libc.prctl(PR_SET_PDEATHSIG, int(with_signal), 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the call
            os._exit(1)

    return request


def child_options(uid: int | None, gid: int | None, end_with: signal.Signals) -> dict[str, Any]:
    """Return the `Popen` options of a child that ends with this process and has no root rights.

    With `uid` None the child keeps the user id.
    """
    options: dict[str, Any] = {
        "preexec_fn": die_with_parent(end_with),
        "cwd": "/",
        "env": {"LC_ALL": "C", "PATH": os.defpath},
    }
    if uid is not None:
        options |= {"user": uid, "group": gid, "extra_groups": []}
    return options


def give_away(folder: Path, uid: int) -> None:
    """Change the owner of a folder and its content."""
    for place, _folders, files in os.walk(folder):
        os.chown(place, uid, uid)
        for name in files:
            os.chown(os.path.join(place, name), uid, uid, follow_symlinks=False)
