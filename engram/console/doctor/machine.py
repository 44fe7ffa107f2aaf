"""Checks of this machine: interpreter, folders, programs, users and ports."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings

from engram import embedded
from engram.console.backup import home_files
from engram.console.doctor.check import CheckResult
from engram.embedded.broker import find_program
from engram.embedded.places import make_home
from engram.embedded.postgres import find_wheel
from engram.supervisor.account import REMEDY, choose_account
from engram.supervisor.plan import running_supervisor

WARN_FREE_BYTES = 2 * 1024**3
FAIL_FREE_BYTES = 200 * 1024**2
OLDEST_REDIS = (5, 0)
OLDEST_BACKUP = timedelta(days=7)


def python_version() -> CheckResult:
    """Check the interpreter."""
    version = sys.version.split()[0]
    if (3, 11) <= sys.version_info[:2] <= (3, 12):
        return CheckResult("python", "ok", version)
    return CheckResult("python", "fail", version, "use Python 3.11 or 3.12: rm -r .venv; make up")


def home_folder(home: Path) -> CheckResult:
    """Check that ENGRAM_HOME can be written to."""
    try:
        make_home(home)
        probe = home / f".doctor-{os.getpid()}"
        probe.write_text("")
        probe.unlink()
    except (embedded.EmbeddedServicesError, OSError) as error:
        return CheckResult("home", "fail", str(error), "set ENGRAM_HOME to a folder of your own")
    return CheckResult("home", "ok", str(home))


def free_space(home: Path) -> CheckResult:
    """Check the disk below ENGRAM_HOME."""
    free = shutil.disk_usage(home).free
    detail = f"{free / 1024**3:.1f} GB free below {home}"
    if free < FAIL_FREE_BYTES:
        return CheckResult(
            "disk", "fail", detail, "free some space: PostgreSQL stops when it is full"
        )
    if free < WARN_FREE_BYTES:
        return CheckResult("disk", "warn", detail, "free some space soon")
    return CheckResult("disk", "ok", detail)


def last_backup(now: datetime) -> CheckResult:
    """Check that `manage.py backup` was used lately; without it in production only."""
    remedy = "manage.py backup PATH --verify, regularly, and keep the file on another machine"
    found = home_files.last_backup()
    if found is None:
        detail = "none by manage.py backup" if settings.IS_PRODUCTION else "none yet"
        return CheckResult("backup", "warn" if settings.IS_PRODUCTION else "ok", detail, remedy)
    made_at, path = found
    detail = f"{path}, of {made_at:%Y-%m-%d %H:%M} UTC"
    if now - made_at > OLDEST_BACKUP:
        return CheckResult("backup", "warn", f"{detail}: more than a week ago", remedy)
    return CheckResult("backup", "ok", detail)


def postgres_binaries() -> CheckResult:
    """Check the embedded PostgreSQL, where it is used."""
    if not _is_embedded("postgres"):
        return CheckResult("postgres", "ok", "DATABASE_URL names a server")
    try:
        return CheckResult("postgres", "ok", _version_of(find_wheel() / "bin" / "postgres"))
    except (embedded.EmbeddedServicesError, OSError, subprocess.SubprocessError) as error:
        return CheckResult("postgres", "fail", str(error), "rm .venv/installed-*; make up")


def redis_binaries() -> CheckResult:
    """Check the embedded Redis, where it is used."""
    if not _is_embedded("redis"):
        return CheckResult("redis", "ok", "BROKER_URL names a server")
    try:
        version = _version_of(find_program())
    except (embedded.EmbeddedServicesError, OSError, subprocess.SubprocessError) as error:
        return CheckResult(
            "redis", "fail", str(error), "apt-get install redis-server, or BROKER_URL"
        )
    number = version.partition("v=")[2].split(" ")[0]
    if number and tuple(int(part) for part in number.split(".")[:2]) < OLDEST_REDIS:
        return CheckResult("redis", "fail", version, "Redis 5 or newer is needed")
    return CheckResult("redis", "ok", version.partition(" sha=")[0])


def _is_embedded(name: str) -> bool:
    """Return whether the variable of a service is unset, or was set by Engram itself."""
    return name in embedded.missing_services() | embedded.held_services()


def _version_of(program: Path) -> str:
    done = subprocess.run(  # noqa: S603
        [program, "--version"], capture_output=True, text=True, timeout=10, check=True
    )
    return done.stdout.strip()


def services_start() -> CheckResult:
    """Check that the embedded services that are needed can be started."""
    try:
        embedded.export_environment()
    except embedded.EmbeddedServicesError as error:
        logs = settings.ENGRAM_HOME / "logs"
        return CheckResult("services", "fail", str(error), f"see {logs}")
    held = embedded.held_services()
    return CheckResult("services", "ok", f"embedded: {', '.join(sorted(held)) or 'none needed'}")


def user(home: Path) -> CheckResult:
    """Check that `up` started by root can give web, worker and beat a user without its rights."""
    account = choose_account(home, os.environ, embedded.held_services())
    if account.why_root:
        detail = f"started by root, web, worker and beat run as root: {account.why_root}"
        return CheckResult("user", "warn", detail, REMEDY)
    if account.user:
        detail = f"started by root, web, worker and beat run as user id {account.user.uid}"
        return CheckResult("user", "ok", detail)
    return CheckResult("user", "ok", f"everything runs as you, user id {os.geteuid()}")


def port(host: str, number: int) -> CheckResult:
    """Check that the port is free or used by Engram."""
    if running := running_supervisor(settings.ENGRAM_HOME):
        return CheckResult("port", "ok", f"Engram runs: {running}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, number))
        except OSError as error:
            remedy = "stop what uses it, or set ENGRAM_PORT"
            return CheckResult("port", "warn", f"{host}:{number}: {error.strerror}", remedy)
    return CheckResult("port", "ok", f"{host}:{number} is free")
