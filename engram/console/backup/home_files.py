"""Files of the home: those of a backup, and the note about the last backup."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

from django.conf import settings

from engram.console.backup.archive import Backup
from engram.console.backup.manifest import Manifest
from engram.console.demo import demo_file

NOTE = "backup.json"


def put_files(backup: Backup) -> list[str]:
    """Write a backup's files into the home; return the names of those that were left out.

    The key that signs sessions is left out where the environment names one, which counts; and the
    demo's credentials are left out in production, which has no demo.
    """
    left_out: list[str] = []
    for stored in backup.manifest.files:
        has_own_key = stored.name == "secret_key" and os.environ.get("ENGRAM_SECRET_KEY")
        if has_own_key or (stored.name == demo_file().name and settings.IS_PRODUCTION):
            left_out.append(stored.name)
        else:
            _write_privately(settings.ENGRAM_HOME / stored.name, backup.file(stored))
    return left_out


def note_backup(path: Path, manifest: Manifest, sha256: str) -> None:
    """Note in the home that a backup was made, for `doctor`."""
    note = {
        "made_at": manifest.created_at.isoformat(),
        "path": str(path.resolve()),
        "rows": manifest.rows,
        "sha256": sha256,
    }
    _write_privately(settings.ENGRAM_HOME / NOTE, json.dumps(note, indent=1).encode() + b"\n")


def last_backup() -> tuple[datetime, Path] | None:
    """Return when the last backup of this home was made, and where it was put."""
    try:
        note = json.loads((settings.ENGRAM_HOME / NOTE).read_text())
        return datetime.fromisoformat(note["made_at"]), Path(note["path"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_privately(path: Path, content: bytes) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
