"""A home that is prepared once for each set of migrations and static files, and copied.

`manage.py up` in a copy finds a migrated database and collected static files: what takes a new home
half a minute is copied in less than a second. Copies run without fsync.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from engram.console import static_files
from engram.embedded import postgres
from engram.embedded.places import find_places, make_home, read_record
from engram.embedded.privileges import give_away
from tests.homes import ENVIRONMENT, SOURCE, eventually, processes_of
from tests.template_database import digest_of_migrations

DONE = "prepared"  # a home without this file was left half made


def prepare(home: Path) -> Path:
    """Make a home as `manage.py up --prepare --no-demo` leaves it; return it."""
    source = _prepared_home()
    make_home(home)
    (home / postgres.NO_FSYNC_FILE).touch()
    places = find_places(home)
    shutil.copytree(Path(read_record(source)["state"], "postgres"), places.data)
    if places.user:
        give_away(places.data, places.user.uid)
    shutil.copytree(source / "static", home / "static")
    shutil.copy(source / "static.stamp", home)
    return home


def _prepared_home() -> Path:
    """Return the home that others are copied from; make it if there is none."""
    folder = Path(os.environ["ENGRAM_HOME"], "homes")
    folder.mkdir(exist_ok=True)
    home = folder / _digest()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one process at a time makes it
        if not (home / DONE).exists():
            for old in folder.iterdir():
                if old.is_dir():
                    _remove(old)
            _make(home)
            (home / DONE).touch()
    return home


def _make(home: Path) -> None:
    make_home(home)
    (home / postgres.NO_FSYNC_FILE).touch()
    subprocess.run(
        [sys.executable, "manage.py", "up", "--prepare", "--no-demo"],
        cwd=SOURCE,
        env={**ENVIRONMENT, "ENGRAM_HOME": str(home)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert eventually(lambda: not processes_of(home)), processes_of(home)


def _remove(home: Path) -> None:
    shutil.rmtree(read_record(home).get("state", home), ignore_errors=True)
    shutil.rmtree(home, ignore_errors=True)


def _digest() -> str:
    """Return a digest of all that decides what the home holds."""
    parts = (
        digest_of_migrations(),
        static_files.fingerprint(),
        Path(postgres.__file__).read_text(),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
