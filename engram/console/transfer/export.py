"""Write workspaces into an archive: one snapshot of the database, a bounded number of rows at once.

The archive is a zip file: JSON Lines of each table, and last a manifest with counts and checksums.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from engram.console.transfer.manifest import (
    FORMAT,
    FORMAT_VERSION,
    MANIFEST,
    migration_state,
    path_of,
    product_version,
)
from engram.console.transfer.tables import Table, tables
from engram.console.transfer.writing import new_file, one_snapshot
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from predictor.models import TrainingLease

LEVEL = 1  # of compression: higher ones take four times as long for a tenth less

Advance = Callable[[int], object]


def count_rows(workspaces: Sequence[Workspace], *, has_vectors: bool) -> int:
    """Return about how many rows an export of workspaces writes, for a progress bar."""
    total = 0
    for workspace in workspaces:
        with in_workspace(workspace):
            total += sum(table.model.objects.count() for table in tables(has_vectors=has_vectors))
    return total


def export(
    workspaces: Sequence[Workspace],
    path: Path,
    *,
    has_vectors: bool,
    now: datetime,
    advance: Advance = lambda rows: None,
) -> int:
    """Write an archive that only its owner may read, whole or not at all; return its rows.

    Hidden memories go along with their state, forgotten ones too; erased ones have no row. Raise
    `FileExistsError` when there is such a file.
    """
    with new_file(path) as file:
        return _write(file, workspaces, has_vectors=has_vectors, now=now, advance=advance)


def _write(
    file: IO[bytes],
    workspaces: Sequence[Workspace],
    *,
    has_vectors: bool,
    now: datetime,
    advance: Advance,
) -> int:
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive,
        one_snapshot(),
    ):
        written = [
            _workspace(archive, workspace, has_vectors=has_vectors, advance=advance)
            for workspace in workspaces
        ]
        manifest = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "product_version": product_version(),
            "created_at": now.isoformat(),
            "vectors": has_vectors,
            "migrations": migration_state(),
            "workspaces": written,
        }
        archive.writestr(MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1))
    return sum(file["rows"] for workspace in written for file in workspace["files"])


def _workspace(
    archive: zipfile.ZipFile, named: Workspace, *, has_vectors: bool, advance: Advance
) -> dict[str, Any]:
    with in_workspace(named):
        workspace = Workspace.objects.get(pk=named.pk)
        changed = workspace.embedding_changed_at
        lease = TrainingLease.objects.filter(workspace_id=workspace.pk, due_at__isnull=False)
        return {
            "id": str(workspace.pk),
            "slug": workspace.slug,
            "name": workspace.name,
            "settings": workspace.settings,
            "embedding_model": workspace.embedding_model,
            "embedding_changed_at": changed and changed.isoformat(),
            "created_at": workspace.created_at.isoformat(),
            "training_due": lease.values_list("reason", flat=True).first() or "",
            "files": [
                _table(archive, path_of(workspace.slug, table.label), table, advance)
                for table in tables(has_vectors=has_vectors)
            ],
        }


def _table(archive: zipfile.ZipFile, path: str, table: Table, advance: Advance) -> dict[str, Any]:
    count = size = 0
    digest = hashlib.sha256()
    with archive.open(path, "w", force_zip64=True) as member:
        for row in table.rows():
            line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            member.write(line)
            digest.update(line)
            count += 1
            size += len(line)
            advance(1)
    return {
        "table": table.label,
        "path": path,
        "columns": table.names,
        "rows": count,
        "bytes": size,
        "sha256": digest.hexdigest(),
    }
