"""Open a backup, and check all of it before anything is changed.

A digest finds damage, cuts and edits of a member. It does not find an archive that somebody has
written anew with its manifest: compare the digest that `backup` printed for that.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engram.console.backup.manifest import (
    MANIFEST,
    BackupError,
    Manifest,
    StoredFile,
    StoredTable,
    read_manifest,
)

MANIFEST_MAX_BYTES = 4 * 2**20
READ_BYTES = 2**20
READS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


class Backup:
    """An open backup with a valid manifest. Nothing is unpacked to the disk."""

    def __init__(self, zipped: zipfile.ZipFile) -> None:
        self._zipped = zipped
        names = [info.filename for info in zipped.infolist()]
        if MANIFEST not in names:
            raise BackupError("This zip file has no manifest: it is no backup.")
        self.manifest: Manifest = read_manifest(self._read_manifest())
        expected = {MANIFEST, *(member.path for member in self.manifest.members)}
        if len(set(names)) < len(names) or (strange := sorted(set(names) - expected)):
            twice = len(set(names)) < len(names)
            what = "two members of one name" if twice else f"what is not part of it: {strange[0]!r}"
            raise BackupError(f"The backup holds {what}.")
        if missing := sorted(expected - set(names)):
            raise BackupError(f"The backup lacks {missing[0]}.")

    def blocks(self, member: StoredTable | StoredFile) -> Iterator[bytes]:
        """Yield the content of a member; raise `BackupError` where it is not what was written."""
        size, digest = 0, hashlib.sha256()
        try:
            with self._zipped.open(member.path) as stream:
                while block := stream.read(READ_BYTES):
                    size += len(block)
                    if size > member.bytes:
                        raise BackupError(f"{member.path} is longer than the manifest says.")
                    digest.update(block)
                    yield block
        except BROKEN as error:
            raise BackupError(f"{member.path} cannot be read: {error}.") from None
        if digest.hexdigest() != member.sha256:
            raise BackupError(f"{member.path} is damaged: its digest is not the manifest's.")

    def check(self, advance: Callable[[int], object]) -> None:
        """Read everything once; raise `BackupError` for the first thing that is wrong."""
        for member in self.manifest.members:
            for block in self.blocks(member):
                advance(len(block))

    def file(self, stored: StoredFile) -> bytes:
        """Return the content of a file of the home."""
        return b"".join(self.blocks(stored))

    def _read_manifest(self) -> object:
        try:
            with self._zipped.open(MANIFEST) as member:
                raw = member.read(MANIFEST_MAX_BYTES + 1)
            if len(raw) <= MANIFEST_MAX_BYTES:
                parsed: object = json.loads(raw)
                return parsed
        except BROKEN as error:
            raise BackupError(f"The manifest cannot be read: {error}.") from None
        except (ValueError, RecursionError):
            raise BackupError("The manifest is not JSON.") from None
        raise BackupError("The manifest is too large.")


@contextmanager
def open_backup(path: Path) -> Iterator[Backup]:
    """Open a backup; raise `BackupError` when it is none, is cut short, or is newer."""
    try:
        zipped = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise BackupError("This is no zip file, or its end is missing.") from None
    except OSError as error:
        raise BackupError(f"It cannot be read: {error.strerror}.") from None
    with zipped:
        if any(info.compress_type not in READS for info in zipped.infolist()):
            raise BackupError("The backup is compressed in an unknown way.")
        yield Backup(zipped)
