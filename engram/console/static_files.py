"""Collect static files, only when any of them changed."""

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def are_collected() -> bool:
    """Return whether the collected files are those of the apps now."""
    stamp = _stamp()
    return stamp.exists() and settings.STATIC_ROOT.is_dir() and stamp.read_text() == fingerprint()


def collect() -> None:
    """Collect and compress all static files."""
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    _stamp().write_text(fingerprint())


def _stamp() -> Path:
    return Path(settings.ENGRAM_HOME) / "static.stamp"


def fingerprint() -> str:
    """Return a digest of the names, sizes and times of all static files."""
    digest = hashlib.sha256(repr(settings.STORAGES["staticfiles"]).encode())
    for finder in get_finders():
        for name, storage in finder.list([]):
            found = Path(storage.path(name)).stat()
            digest.update(f"{name}:{found.st_size}:{found.st_mtime_ns}\n".encode())
    return digest.hexdigest()
