"""Read archives: only the files that their manifest names, line by line, and checked first.

Nothing is unpacked to the disk, so that a path within an archive leads nowhere.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, NoReturn, cast

from engram.console.transfer.manifest import (
    MANIFEST,
    ArchivedFile,
    ArchiveError,
    Manifest,
    read_manifest,
)
from engram.console.transfer.tables import Row, Table

MANIFEST_MAX_BYTES = 16 * 2**20
LINE_MAX_BYTES = 64 * 2**20  # the weights of a ranker are the longest: some megabytes
READ_BYTES = 2**20  # a buffer of C finds lines four times as fast as a file within a zip
READS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class Archive:
    """An open archive with a valid manifest."""

    def __init__(self, zipped: zipfile.ZipFile) -> None:
        self._zipped = zipped
        infos = zipped.infolist()
        if len({info.filename for info in infos}) < len(infos):
            raise ArchiveError("The archive holds two files of one name.")
        raw = self._read_manifest()
        self.digest = hashlib.sha256(raw).hexdigest()
        self.manifest: Manifest = read_manifest(_json(raw, "The manifest"))
        expected = {MANIFEST, *self.manifest.paths}
        names = {info.filename for info in infos}
        if strange := sorted(names - expected):
            raise ArchiveError(f"The archive holds a file that is not part of it: {strange[0]!r}.")
        if missing := sorted(expected - names):
            raise ArchiveError(f"The archive lacks {missing[0]}.")

    def lines(self, file: ArchivedFile) -> Iterator[bytes]:
        """Yield the lines of a file; raise `ArchiveError` where it is not what was written."""
        size = count = 0
        digest = hashlib.sha256()
        try:
            unbuffered = cast("RawIOBase", self._zipped.open(file.path))
            with BufferedReader(unbuffered, READ_BYTES) as member:
                while line := member.readline(LINE_MAX_BYTES):
                    size += len(line)
                    count += 1
                    if size > file.bytes or not line.endswith(b"\n"):
                        _refuse(file, f"line {count} does not end where the manifest says")
                    digest.update(line)
                    yield line
        except BROKEN as error:
            raise ArchiveError(f"{file.path} cannot be read: {error}.") from None
        if (size, count) != (file.bytes, file.rows):
            _refuse(file, f"it has {count} rows, and {file.rows} in the manifest")
        if digest.hexdigest() != file.sha256:
            _refuse(file, "its checksum is not that of the manifest")

    def rows(self, file: ArchivedFile, table: Table) -> Iterator[Row]:
        """Yield the rows of a file, each with the columns that the manifest names.

        They must ascend by their ids, so that no id occurs twice.
        """
        names, before = set(file.columns), ""
        for number, line in enumerate(self.lines(file), start=1):
            place = f"{file.path}, line {number}"
            row = _json(line, place)
            if not isinstance(row, dict) or row.keys() != names:
                raise ArchiveError(f"{place} does not have the columns of the manifest.")
            if table.key:
                key = row[table.key]
                if not isinstance(key, str) or key <= before:
                    raise ArchiveError(f"{place}: the id {key!r} occurs twice, or is out of order.")
                before = key
            yield row

    def check(self, tables: dict[str, Table], *, advance: Callable[[int], object]) -> None:
        """Read everything once and raise `ArchiveError` for the first thing that is wrong."""
        for workspace in self.manifest.workspaces:
            for file in workspace.files:
                table = tables[file.table]
                for number, row in enumerate(self.rows(file, table), start=1):
                    try:
                        table.decode(row)
                    except (ValueError, TypeError, AttributeError):
                        _refuse(file, f"line {number} holds a value of another type")
                    advance(1)

    def _read_manifest(self) -> bytes:
        try:
            with self._zipped.open(MANIFEST) as member:
                raw = member.read(MANIFEST_MAX_BYTES + 1)
        except KeyError:
            raise ArchiveError("This zip file has no manifest: it is no archive.") from None
        except BROKEN as error:
            raise ArchiveError(f"The manifest cannot be read: {error}.") from None
        if len(raw) > MANIFEST_MAX_BYTES:
            raise ArchiveError("The manifest is too large.")
        return raw


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open an archive; raise `ArchiveError` when it is none, is cut short, or is newer."""
    try:
        zipped = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise ArchiveError("This is no zip file, or its end is missing.") from None
    except OSError as error:
        raise ArchiveError(f"It cannot be read: {error.strerror}.") from None
    with zipped:
        if any(info.compress_type not in READS for info in zipped.infolist()):
            raise ArchiveError("The archive is compressed in an unknown way.")
        yield Archive(zipped)


def _json(raw: bytes, what: str) -> Any:
    try:
        return json.loads(raw, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise ArchiveError(f"{what} is not JSON.") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _refuse(file: ArchivedFile, why: str) -> NoReturn:
    raise ArchiveError(f"{file.path} is damaged: {why}.")
