"""Write a backup: one snapshot of the database and the files of the home, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from engram.console.backup.manifest import (
    FORMAT,
    FORMAT_VERSION,
    HOME_FILES,
    MANIFEST,
    BackupError,
    Manifest,
    StoredFile,
    StoredSequence,
    StoredTable,
    applied_nodes,
)
from engram.console.backup.tables import (
    TableOf,
    copied_rows,
    our_tables,
    sequences_of,
    workspace_ids,
    write_alike,
)
from engram.console.transfer.export import LEVEL
from engram.console.transfer.manifest import product_version
from engram.console.transfer.writing import new_file, one_snapshot
from engram.kernel.squashed import missing_migrations

WRITE_BYTES = 2**20
Advance = Callable[[int], object]


def back_up(path: Path, *, now: datetime, advance: Advance = lambda rows: None) -> Manifest:
    """Write an archive that only its owner may read; return its manifest.

    Raise `FileExistsError` when there is such a file, `BackupError` where nothing can be read.
    """
    if problem := missing_migrations():
        raise BackupError(problem)
    with (
        new_file(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive,
    ):
        return _write(archive, now, advance)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(archive: zipfile.ZipFile, now: datetime, advance: Advance) -> Manifest:
    with one_snapshot(), connection.cursor() as cursor:
        write_alike(cursor)
        tables = our_tables()
        if not tables:
            raise BackupError("The database holds no tables of Engram: there is nothing to save.")
        workspaces = workspace_ids(cursor)
        manifest = Manifest(
            format=FORMAT,
            format_version=FORMAT_VERSION,
            product_version=product_version(),
            server_version=_server_version(cursor),
            created_at=now,
            workspaces=len(workspaces),
            migrations=sorted(MigrationRecorder(connection).applied_migrations()),
            tables=[_table(archive, cursor, one, workspaces, advance) for one in tables],
            sequences=[
                StoredSequence(name=name, last_value=last_value, is_called=is_called)
                for name, last_value, is_called in sequences_of(tables)
            ],
            files=list(_files(archive)),
        )
        applied_nodes(manifest)  # what this version cannot restore it does not save either
        archive.writestr(MANIFEST, json.dumps(manifest.model_dump(mode="json"), indent=1))
    return manifest


def _server_version(cursor: Any) -> str:
    cursor.execute("SHOW server_version")
    return str(cursor.fetchone()[0])


def _table(
    archive: zipfile.ZipFile,
    cursor: Any,
    table: TableOf,
    workspaces: Sequence[UUID],
    advance: Advance,
) -> StoredTable:
    digested = Digested()
    with archive.open(f"tables/{table.name}.copy", "w", force_zip64=True) as member:
        for rows in digested.blocks(copied_rows(cursor, table, table.columns, workspaces)):
            member.write(rows)
            advance(len(rows))
    return StoredTable(
        name=table.name,
        columns=list(table.columns),
        rows=digested.rows,
        bytes=digested.bytes,
        sha256=digested.sha256,
    )


class Digested:
    """Counts and digests a stream of rows that passes through it in blocks."""

    def __init__(self) -> None:
        self.rows = self.bytes = 0
        self._hash = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Return the digest of what has passed."""
        return self._hash.hexdigest()

    def blocks(self, rows: Any) -> Any:
        """Yield rows joined to blocks of about a megabyte."""
        waiting = bytearray()
        for row in rows:
            self.rows += 1
            waiting += row
            if len(waiting) >= WRITE_BYTES:
                yield self._pass(waiting)
                waiting = bytearray()
        yield self._pass(waiting)

    def _pass(self, block: bytearray) -> bytearray:
        self.bytes += len(block)
        self._hash.update(block)
        return block


def _files(archive: zipfile.ZipFile) -> Any:
    """Add the files of the home that cannot be made again.

    The key that signs sessions is none of them where the environment names another one.
    """
    for name in HOME_FILES:
        if name == "secret_key" and os.environ.get("ENGRAM_SECRET_KEY"):
            continue
        try:
            content = (settings.ENGRAM_HOME / name).read_bytes()
        except FileNotFoundError:
            continue
        digest = hashlib.sha256(content).hexdigest()
        stored = StoredFile(name=name, bytes=len(content), sha256=digest)
        archive.writestr(stored.path, content)
        yield stored
