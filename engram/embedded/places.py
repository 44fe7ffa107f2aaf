"""The folders of a home's database, sockets and logs, and the file that records them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from engram.embedded.privileges import (
    ApplicationUser,
    EmbeddedServicesError,
    ServiceUser,
    application_folder,
    can_access,
    choose_application_user,
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
    state: Path  # contains the data folder; the home itself if the service user can enter it
    run: Path  # sockets; only for the service user, the application and root
    user: ServiceUser | None
    application: ApplicationUser | None

    @property
    def data(self) -> Path:
        """Return the PostgreSQL data folder."""
        return self.state / "postgres"

    @property
    def logs(self) -> Path:
        """Return the folder of log files."""
        return self.home / "logs"


def record_path(home: Path) -> Path:
    """Return the file that records the folders of a home."""
    return home / "services.json"


def read_record(home: Path) -> dict[str, str]:
    """Return the record; empty if there is none."""
    try:
        record = json.loads(record_path(home).read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return {str(key): str(value) for key, value in record.items()}


def make_home(home: Path) -> None:
    """Create the home folder.

    Root's has mode 711, so that the service user can access its data but not list it.
    """
    try:
        _make_folder(home, 0o711 if os.geteuid() == 0 else 0o700)
        is_usable = home.is_dir() and os.access(home, os.R_OK | os.W_OK | os.X_OK)
    except OSError:
        is_usable = False
    if not is_usable:
        raise EmbeddedServicesError(
            f"{home} is not a folder that you may write to: choose another ENGRAM_HOME."
        )
    application_folder(home).mkdir(mode=0o700, exist_ok=True)
    (home / "logs").mkdir(mode=0o700, exist_ok=True)
    if (home / "logs").stat().st_mode & 0o077:
        (home / "logs").chmod(0o700)


def _make_folder(folder: Path, mode: int) -> None:
    """Create a folder if there is none, with a mode independent of the umask.

    Raises OSError, but not if another process creates the same folder at the same time.
    """
    try:
        folder.mkdir(parents=True, mode=0o700)
    except FileExistsError:
        return
    folder.chmod(mode)


def find_places(home: Path) -> Places:
    """Choose and record the folders of the home's services."""
    record = read_record(home)
    state = _known_state(home, record)
    application = find_application_user(home)
    user = choose_service_user(_seed(home), state / "postgres" if state else None, application)
    if state is None:
        state = home if user is None or _is_open_to(home, user) else _new_shared_folder(home)
    run = _run_folder(state, user, application, record)
    text = json.dumps({"state": str(state), "run": str(run)}, indent=1)
    draft = record_path(home).with_suffix(".json.new")
    draft.write_text(text + "\n")
    draft.chmod(0o644)  # read by the application, trusted by root
    draft.replace(record_path(home))
    return Places(home=home, state=state, run=run, user=user, application=application)


def find_application_user(home: Path) -> ApplicationUser | None:
    """Return the recorded user of web, worker and beat in a home of root."""
    state = _known_state(home, read_record(home))
    return choose_application_user(_seed(home), home, state / "postgres" if state else None)


def _seed(home: Path) -> int:
    return int(hashlib.sha256(os.fsencode(home)).hexdigest()[:8], 16)


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
    """Create a state folder for a home that the service user cannot enter, such as below /root."""
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:8]
    folder = Path(tempfile.mkdtemp(prefix=f"{digest}-", dir=shared_state()))
    folder.chmod(0o711)
    (folder / "home").write_text(f"{home}\n")
    return folder


def shared_state() -> Path:
    """Return root's folder for state outside homes."""
    try:
        _make_folder(SHARED_STATE, 0o711)  # can be entered, not listed
    except OSError:
        return Path(tempfile.gettempdir())
    return SHARED_STATE


def _run_folder(
    state: Path,
    user: ServiceUser | None,
    application: ApplicationUser | None,
    record: dict[str, str],
) -> Path:
    owner = os.geteuid() if user is None else user.uid
    known = Path(record["run"]) if "run" in record else None
    if known and _is_private(known, owner):
        folder = known
    elif _fits(state / "run"):
        folder = state / "run"
        folder.mkdir(mode=0o700, exist_ok=True)
    else:
        base = shared_state() if user else Path(tempfile.gettempdir())
        base = base if _fits(base / "engram-12345678") else Path("/tmp")  # noqa: S108 (mkdtemp)
        folder = Path(tempfile.mkdtemp(prefix="engram-", dir=base))
    # Sockets inherit the group of a folder with the set-group-id bit.
    group, mode = (application.gid, 0o2710) if application else (owner, 0o700)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if user:
            os.fchown(opened, user.uid, group)
        os.fchmod(opened, mode)
    finally:
        os.close(opened)
    return folder


def _fits(folder: Path) -> bool:
    is_short = len(os.fsencode(folder)) <= SOCKET_FOLDER_BYTES
    return is_short and PLAIN_PATH.fullmatch(str(folder)) is not None


def _is_private(folder: Path, owner: int) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    is_private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) in {0o700, 0o2710}
    return is_private and found.st_uid == owner and _fits(folder)
