"""Who runs the embedded servers and the application, and how they end when their parent does.

PostgreSQL refuses to run as root. For root each home gets a user id of its own that no account
uses, so that neither other homes nor processes of ``nobody`` can read its files. ``initdb`` and
single-user mode look their user up in the account list and therefore run once as ``nobody``;
the finished files are then handed over to the home's own id. Web, worker and beat get a second
such id, so that they reach the servers' sockets but not their files.
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
# systemd's table of user ids leaves this range to nobody: no distribution, no container
# and no dynamic service user is given one of these.
FREE_IDS = range(60706, 61184)

# Loaded before any fork: between fork and exec nothing may be imported.
_libc = ctypes.CDLL(None, use_errno=True)


class EmbeddedServicesError(RuntimeError):
    """The embedded services cannot run here; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class ServiceUser:
    """The user ids that root gives to the servers; an ordinary user has none of these."""

    uid: int
    setup_uid: int
    setup_gid: int


@dataclass(frozen=True, slots=True)
class ApplicationUser:
    """The ids that root gives to web, worker and beat; the group may enter the socket folder."""

    uid: int
    gid: int


def choose_application_user(seed: int, home: Path, data: Path | None) -> ApplicationUser | None:
    """Return the user for web, worker and beat; None when we are not root or no id is left.

    Who owns the application's folder keeps it, and a home that is not root's is its owner's.
    """
    if os.geteuid() != 0:
        return None
    servers = _owner(data) or next(_free_ids(seed), 0)
    spare = next((number for number in _free_ids(seed) if number != servers), None)
    uid = _owner(application_folder(home)) or _owner(home) or spare
    gid = uid if uid in FREE_IDS else spare  # the group of an account may have other members
    return ApplicationUser(uid, gid) if uid is not None and gid is not None else None


def application_folder(home: Path) -> Path:
    """Return the only folder of a home that web, worker and beat may write to."""
    return home / "application"


def choose_service_user(
    seed: int, existing: Path | None, application: ApplicationUser | None
) -> ServiceUser | None:
    """Return the user for the servers, or None when we are not root and run them ourselves.

    `existing` is a data folder made earlier: its owner keeps it.
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
    """Return who owns what was made earlier; 0 is root, or nobody yet."""
    return path.stat().st_uid if path and path.exists() else 0


def _free_ids(seed: int) -> Iterator[int]:
    """Give the ids of no account and no group, in an order of the home's own."""
    taken = {entry.pw_uid for entry in pwd.getpwall()} | {g.gr_gid for g in grp.getgrall()}
    for step in range(len(FREE_IDS)):
        number = FREE_IDS[(seed + step) % len(FREE_IDS)]
        if number not in taken and _is_mapped(number):
            yield number


def _is_mapped(uid: int) -> bool:
    """Tell whether this user namespace knows the id (containers may map only a few)."""
    try:
        rows = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return True
    spans = [tuple(int(part) for part in row.split()) for row in rows]
    return any(first <= uid < first + count for first, _outside, count in spans)


def can_access(path: Path, mode: int, uid: int) -> bool:
    """Ask the kernel, in a child of that user, whether it may access the path."""
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
    """Return what a child calls before exec so that it gets the signal when its parent dies.

    The kernel forgets the request when the user id changes, so this runs after that (`Popen`
    changes the user before it calls `preexec_fn`), and it watches the *thread* that forked:
    start long-lived children from a thread that lives as long as the process.
    """
    parent = os.getpid()

    def request() -> None:
        if sys.platform != "linux":
            return
        _libc.prctl(PR_SET_PDEATHSIG, int(with_signal), 0, 0, 0)
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)

    return request


def child_options(uid: int | None, gid: int | None, end_with: signal.Signals) -> dict[str, Any]:
    """Return the `Popen` options of a child: bound to our life, without root's rights.

    An ordinary user (`uid` None) keeps its own id.
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
    """Make the user own a folder and all that is in it."""
    for place, _folders, files in os.walk(folder):
        os.chown(place, uid, uid)
        for name in files:
            os.chown(os.path.join(place, name), uid, uid, follow_symlinks=False)
