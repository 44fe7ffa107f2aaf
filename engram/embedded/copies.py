"""Copy the servers' programs where their user cannot access the installed ones."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from engram.embedded.places import shared_state
from engram.embedded.privileges import ServiceUser, can_access


def reachable(root: Path, parts: list[str], probe: str, user: ServiceUser | None) -> Path:
    """Return `root`, or a folder with a copy of its `parts` where the service user may run `probe`.

    The service user cannot access a virtual environment below a private folder. Copies are named
    after their origin and shared between homes.
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
        open_to_all(fresh)
        try:
            fresh.rename(copy)
        except OSError:  # another home has copied it meanwhile
            shutil.rmtree(fresh)
    return copy


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        for_compilers = shutil.ignore_patterns("include", "*.a", "pgxs", "pkgconfig")
        shutil.copytree(source, target, symlinks=True, ignore=for_compilers)
    else:
        shutil.copy2(source, target)


def open_to_all(folder: Path) -> None:
    """Make a folder and its files readable for everybody."""
    for place, _folders, files in os.walk(folder):
        Path(place).chmod(0o755)
        for name in files:
            path = Path(place, name)
            if not path.is_symlink():
                path.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
