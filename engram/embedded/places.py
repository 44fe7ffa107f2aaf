"""Where one home keeps its database, sockets and logs, and the file that remembers it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from engram.embedded.privileges import (
    EmbeddedServicesError,
    ServiceUser,
    can_access,
    choose_service_user,
)

# The kernel's limit is 107 bytes (103 on BSD) for the longest name, "<folder>/.s.PGSQL.5432".
SOCKET_FOLDER_BYTES = 85
PLAIN_PATH = re.compile(r"[A-Za-z0-9._/+-]+")
SHARED_STATE = Path("/var/lib/engram")


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one home."""

    home: Path
    state: Path  # holds the data folder; the home itself where the service user can go there
    run: Path  # sockets; nobody but the service user (and root) may enter
    user: ServiceUser | None

    @property
    def data(self) -> Path:
        """The PostgreSQL data folder."""
        return self.state / "postgres"

    @property
    def logs(self) -> Path:
        """The folder of log files."""
        return self.home / "logs"


def record_path(home: Path) -> Path:
    """Return the file that remembers where a home's services keep their things."""
    return home / "services.json"


def read_record(home: Path) -> dict[str, str]:
    """Return what was remembered, or nothing."""
    try:
        record = json.loads(record_path(home).read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return {str(key): str(value) for key, value in record.items()}


def make_home(home: Path) -> None:
    """Create the home folder.

    Root's is passable but not listable, so that the service user can reach its data.
    """
    try:
        if not home.exists():
            home.mkdir(parents=True, mode=0o711 if os.geteuid() == 0 else 0o700)
        is_usable = home.is_dir() and os.access(home, os.R_OK | os.W_OK | os.X_OK)
    except OSError:
        is_usable = False
    if not is_usable:
        raise EmbeddedServicesError(
            f"{home} is not a folder that you may write to: choose another ENGRAM_HOME."
        )
    (home / "logs").mkdir(mode=0o700, exist_ok=True)
    if (home / "logs").stat().st_mode & 0o077:
        (home / "logs").chmod(0o700)


def find_places(home: Path) -> Places:
    """Decide, and remember, where the home's services keep their things."""
    record = read_record(home)
    state = _known_state(home, record)
    seed = int(hashlib.sha256(os.fsencode(home)).hexdigest()[:8], 16)
    user = choose_service_user(seed, state / "postgres" if state else None)
    if state is None:
        state = home if user is None or _is_open_to(home, user) else _new_shared_folder(home)
    run = _run_folder(home, state, user, record)
    text = json.dumps({"state": str(state), "run": str(run)}, indent=1)
    record_path(home).write_text(text + "\n")
    return Places(home=home, state=state, run=run, user=user)


def _known_state(home: Path, record: dict[str, str]) -> Path | None:
    if (home / "postgres").is_dir():
        return home
    if "state" in record and record["state"] != str(home):
        state = Path(record["state"])
        if not state.is_dir():
            raise EmbeddedServicesError(
                f"the database of {home} was kept in {state}, which is gone: put it back, or "
                f"delete {record_path(home)} to begin with an empty database."
            )
        return state
    return None


def _is_open_to(folder: Path, user: ServiceUser) -> bool:
    ids = {user.uid, user.setup_uid}
    return all(can_access(folder, os.X_OK, uid) for uid in ids)


def _new_shared_folder(home: Path) -> Path:
    """Make a folder for a home that the service user cannot enter, such as one under /root."""
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:8]
    folder = Path(tempfile.mkdtemp(prefix=f"{digest}-", dir=shared_state()))
    folder.chmod(0o711)
    (folder / "home").write_text(f"{home}\n")
    return folder


def shared_state() -> Path:
    """Return root's folder for what does not fit into a home."""
    try:
        if not SHARED_STATE.exists():
            SHARED_STATE.mkdir(parents=True)
            SHARED_STATE.chmod(0o711)  # whatever the umask: passable, not listable
    except OSError:
        return Path(tempfile.gettempdir())
    return SHARED_STATE


def _run_folder(home: Path, state: Path, user: ServiceUser | None, record: dict[str, str]) -> Path:
    owner = os.geteuid() if user is None else user.uid
    known = Path(record["run"]) if "run" in record else None
    if known and _is_private(known, owner):
        return known
    folder = state / "run"
    if _fits(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    else:
        base = shared_state() if user else Path(tempfile.gettempdir())
        base = base if _fits(base / "engram-12345678") else Path("/tmp")  # noqa: S108 (mkdtemp)
        folder = Path(tempfile.mkdtemp(prefix="engram-", dir=base))
    if user:
        os.chown(folder, user.uid, user.uid)
    folder.chmod(0o700)
    return folder


def _fits(folder: Path) -> bool:
    is_short = len(os.fsencode(folder)) <= SOCKET_FOLDER_BYTES
    return is_short and PLAIN_PATH.fullmatch(str(folder)) is not None


def _is_private(folder: Path, owner: int) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
    return private and found.st_uid == owner and _fits(folder)


def reachable(root: Path, parts: list[str], probe: str, user: ServiceUser | None) -> Path:
    """Return `root`, or a folder with a copy of its `parts` where the service user may run `probe`.

    A virtual environment below a folder that others cannot enter hides the servers from the
    user who has to run them. Copies are named after their origin and shared between homes.
    """
    ids = () if user is None else {user.uid, user.setup_uid}
    if all(can_access(root / probe, os.X_OK, uid) for uid in ids):
        return root
    changed = (root / probe).stat().st_mtime_ns
    digest = hashlib.sha256(f"{root}:{parts}:{changed}".encode()).hexdigest()[:12]
    copy = shared_state() / f"binaries-{digest}"
    if not copy.exists():
        fresh = Path(tempfile.mkdtemp(prefix="copying-", dir=copy.parent))
        for part in parts:
            _copy(root / part, fresh / part)
        _open_to_all(fresh)
        try:
            fresh.rename(copy)
        except OSError:  # another home was quicker
            shutil.rmtree(fresh)
    return copy


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        for_compilers = shutil.ignore_patterns("include", "*.a", "pgxs", "pkgconfig")
        shutil.copytree(source, target, symlinks=True, ignore=for_compilers)
    else:
        shutil.copy2(source, target)


def _open_to_all(folder: Path) -> None:
    for place, _folders, files in os.walk(folder):
        Path(place).chmod(0o755)
        for name in files:
            path = Path(place, name)
            if not path.is_symlink():
                path.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
