"""Give the user of web, worker and beat access to its files in a home of root."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from engram.embedded.copies import open_to_all
from engram.embedded.places import read_record
from engram.embedded.privileges import ApplicationUser, application_folder

SOCKETS = {"postgres": ".s.PGSQL.5432", "redis": "redis.sock"}


def hand_over(home: Path, user: ApplicationUser) -> None:
    """Give the application's user access to a home of root; idempotent.

    The home stays root's: a user who can change it could redirect root's commands to other files.
    Files made by an earlier release or a later command of root are handed over at the next start.
    """
    _let_pass(home, user)
    folder = application_folder(home)
    folder.mkdir(mode=0o700, exist_ok=True)
    _give(folder, user, 0o700)
    for path in folder.iterdir():
        _give(path, user, 0o600)
    _give(home / "secret_key", user, 0o600)
    if (home / "static").is_dir():
        open_to_all(home / "static")


def _let_pass(home: Path, user: ApplicationUser) -> None:
    """Allow the user's group to enter a home of root."""
    found = home.stat()
    if found.st_uid == 0 and stat.S_IMODE(found.st_mode) & 0o077 == 0:
        os.chown(home, -1, user.gid)
        home.chmod(0o710)


def _give(path: Path, user: ApplicationUser, mode: int) -> None:
    """Change the owner of a file or folder; ignore symbolic links."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # missing, or a symbolic link
        return
    try:
        found = os.fstat(opened)
        is_single_file = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
        if is_single_file or stat.S_ISDIR(found.st_mode):
            os.fchown(opened, user.uid, user.gid)
            os.fchmod(opened, mode)
    finally:
        os.close(opened)


def server_sockets(home: Path, names: frozenset[str]) -> list[Path]:
    """Return the sockets of the embedded servers that the application connects to."""
    run = read_record(home).get("run")
    return [Path(run, SOCKETS[name]) for name in sorted(names)] if run else []
