"""Choose the user of web, worker and beat: started by root, an unprivileged one if possible."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engram.embedded.application import hand_over, server_sockets
from engram.embedded.keeper_connection import SOURCE
from engram.embedded.places import find_application_user
from engram.embedded.privileges import (
    ApplicationUser,
    EmbeddedServicesError,
    application_folder,
    die_with_parent,
)

REMEDY = (
    "put the checkout, its Python and ENGRAM_HOME where every user may read them, such as "
    "/opt or /srv"
)
TRIAL_SECONDS = 60
# What an application process needs at its start; does not open the database.
TRIAL = """
import socket, sys, tempfile
import celery, django, numpy, psycopg, redis, uvicorn
import engram.settings
tempfile.TemporaryFile(dir=sys.argv[1]).close()
for path in sys.argv[2:]:
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
"""
ROOTS_OWN = {"HOME", "USER", "LOGNAME", "MAIL"}


@dataclass(frozen=True, slots=True)
class Account:
    """The user of web, worker and beat; without one they run as the supervisor's user."""

    home: Path
    user: ApplicationUser | None = None
    why_root: str = ""  # the reason why they run as root

    def options(self, environment: Mapping[str, str]) -> dict[str, Any]:
        """Return the `Popen` options of a process, and give it access to its files."""
        if self.user is None:
            return {"env": dict(environment)}
        hand_over(self.home, self.user)
        kept = {
            name: value
            for name, value in environment.items()
            if name not in ROOTS_OWN and not name.startswith("XDG_")
        }
        return {
            "env": {**kept, "HOME": str(application_folder(self.home))},
            "user": self.user.uid,
            "group": self.user.gid,
            "extra_groups": [],
        }


def choose_account(home: Path, environment: Mapping[str, str], embedded: frozenset[str]) -> Account:
    """Return the account of the application; for root, test it with a process of that user.

    `embedded` are the names of the servers whose sockets it must reach.
    """
    if os.geteuid() != 0:
        return Account(home)
    try:
        user = find_application_user(home)
    except EmbeddedServicesError as error:
        return Account(home, why_root=str(error))
    if user is None:
        return Account(home, why_root="no user id is free")
    account = Account(home, user)
    why = _why_not(account, environment, server_sockets(home, embedded))
    if why:
        return Account(home, why_root=f"user id {user.uid} cannot run them ({why})")
    return account


def _why_not(account: Account, environment: Mapping[str, str], sockets: list[Path]) -> str:
    """Run the start of an application process as the user; return the error, or ""."""
    places = [str(path) for path in (application_folder(account.home), *sockets)]
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", TRIAL, *places],
            check=False,
            cwd=SOURCE,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TRIAL_SECONDS,
            preexec_fn=die_with_parent(signal.SIGKILL),
            **account.options(environment),
        )
    except OSError as error:
        return f"{error.strerror}: {error.filename}" if error.filename else str(error)
    except subprocess.SubprocessError as error:
        return str(error)
    return (done.stderr.strip().splitlines() or ["it failed"])[-1] if done.returncode else ""
