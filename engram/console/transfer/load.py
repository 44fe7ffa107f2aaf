"""Import archives: checked whole, then written in batches, each with the progress it makes.

A batch and its progress are one transaction: who is killed goes on behind the last batch, and a
finished import is recognised and changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from django.db import DataError, IntegrityError, connection
from psycopg import sql

from engram.console.rows.insert import insert_rows
from engram.console.transfer.archive import Archive
from engram.console.transfer.finishing import finish
from engram.console.transfer.manifest import ArchivedFile, ArchiveError
from engram.console.transfer.owners import KEYS, Owners, own_rows, refuse_keys_of_others
from engram.console.transfer.tables import Row, Table, tables
from engram.console.transfer.targets import Target, begin, find_target, progress_key
from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.models import ImportProgress

ROWS_A_BATCH = 500
CHARS_A_BATCH = 1_000_000

Advance = Callable[[int], object]
Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: rows written now, and before by a run that was cut off."""

    workspace: Workspace
    rows: int
    rows_before: int
    is_new: bool  # something was written


class Step(NamedTuple):
    """One pass over a file: its rows are inserted, or their later columns are written."""

    file: ArchivedFile
    table: Table
    is_later: bool


def count_steps(archive: Archive) -> int:
    """Return how often `advance` is told of a row by `import_archive`: checked and written."""
    checked = sum(workspace.rows for workspace in archive.manifest.workspaces)
    known = _tables(archive)
    written = (_steps(workspace.files, known) for workspace in archive.manifest.workspaces)
    return checked + sum(step.file.rows for steps in written for step in steps)


def import_archive(
    archive: Archive, *, slug: str = "", clock: Clock, advance: Advance = lambda rows: None
) -> list[Imported]:
    """Import the workspaces of an archive; with `slug`, its only one under that name.

    Raise `ArchiveError` when it is damaged, or does not fit: before anything is written, unless the
    database refuses a row of an archive whose checksums are right.
    """
    manifest = archive.manifest
    if slug and len(manifest.workspaces) > 1:
        raise ArchiveError("The archive holds several workspaces; they keep their names.")
    known = _tables(archive)
    targets = [
        find_target(workspace, slug or workspace.slug, archive.digest)
        for workspace in manifest.workspaces
    ]
    archive.check(known, advance=advance)
    return [_import(archive, target, known, clock, advance) for target in targets]


def _tables(archive: Archive) -> dict[str, Table]:
    """Return the tables of the archive; raise `ArchiveError` for unknown ones, or columns."""
    known = {table.label: table for table in tables(has_vectors=archive.manifest.vectors)}
    for workspace in archive.manifest.workspaces:
        for file in workspace.files:
            if file.table not in known:
                raise ArchiveError(f"The archive holds an unknown table: {file.table}.")
            if strange := sorted(set(file.columns) - set(known[file.table].names)):
                raise ArchiveError(f"{file.path} has an unknown column: {strange[0]}.")
            key = known[file.table].key
            if key and key not in file.columns:
                raise ArchiveError(f"{file.path} lacks the column {key}.")
    return known


def _steps(files: list[ArchivedFile], known: dict[str, Table]) -> list[Step]:
    first = [Step(file, known[file.table], is_later=False) for file in files]
    return first + [step._replace(is_later=True) for step in first if step.table.later]


def _import(
    archive: Archive, target: Target, known: dict[str, Table], clock: Clock, advance: Advance
) -> Imported:
    has_vectors = archive.manifest.vectors
    workspace = begin(target, archive.digest, has_vectors=has_vectors, now=clock())
    steps = _steps(target.archived.files, known)
    total = sum(step.file.rows for step in steps)
    with in_workspace(workspace):
        done = _progress(archive).lines_done
        owners = Owners.of(workspace, target.archived.id)
    advance(min(done, total))
    position = 0
    for step in steps:
        if position + step.file.rows <= done:
            position += step.file.rows
            continue
        rows = islice(archive.rows(step.file, step.table), max(done - position, 0), None)
        at = max(done, position)
        for batch in _batches(rows):
            with in_workspace(workspace):
                _move_on(archive, at, len(batch), clock())
                _write(step, owners, batch, at - position, clock())
            at += len(batch)
            advance(len(batch))
        position += step.file.rows
    if done <= total:
        with in_workspace(workspace):
            _move_on(archive, total, 1, clock())
            finish(workspace, target.archived, has_vectors=has_vectors, now=clock())
    written = target.archived.rows
    before = min(done, written)
    return Imported(workspace, written - before, before, is_new=done <= total)


def _progress(archive: Archive) -> ImportProgress:
    rows = ImportProgress.objects.select_for_update()
    return rows.get(file_digest=progress_key(archive.digest))


def _move_on(archive: Archive, at: int, count: int, now: datetime) -> None:
    """Write the progress that a batch makes; raise when another process makes it, too."""
    progress = _progress(archive)
    if progress.lines_done != at:
        raise ArchiveError("Another process imports this archive.")
    progress.lines_done += count
    progress.updated_at = now
    progress.save(update_fields=["lines_done", "updated_at"])


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Yield rows in batches of bounded count and size."""
    batch: list[Row] = []
    chars = 0
    for row in rows:
        batch.append(row)
        chars += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(batch) >= ROWS_A_BATCH or chars >= CHARS_A_BATCH:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


def _write(step: Step, owners: Owners, batch: list[Row], before: int, now: datetime) -> None:
    """Write a batch; raise `ArchiveError` with its place when the database refuses it."""
    table = step.table
    try:
        rows = own_rows(table, owners, [table.defaults | row for row in batch], now)
        if step.is_later:
            _write_later(table, rows)
            return
        filled = [table.decode(row | table.later) for row in rows]
        insert_rows(
            table.model,
            table.all_fields,
            filled,
            keeps_existing=table.label == KEYS,
        )
        if table.label == KEYS:
            refuse_keys_of_others(rows)
    except (IntegrityError, DataError) as error:
        diagnosis = getattr(error.__cause__, "diag", None)
        why = (diagnosis and diagnosis.constraint_name) or type(error).__name__
        raise ArchiveError(
            f"{step.file.path}, lines {before + 1} to {before + len(batch)}: the database refuses "
            f"a row ({why}). What was imported before it stays."
        ) from None


def _write_later(table: Table, batch: list[Row]) -> None:
    """Write the columns of rows that had to wait for all rows."""
    rows = [
        {name: row[name] for name in (table.key, *table.later)}
        for row in batch
        if any(row[name] != value for name, value in table.later.items())
    ]
    if not rows:
        return
    name = sql.Identifier(table.model._meta.db_table)
    statement = sql.SQL(
        "UPDATE {table} AS kept SET {changes} FROM jsonb_populate_recordset(NULL::{table}, "
        "%s::jsonb) AS given WHERE kept.{key} = given.{key} AND kept.workspace_id = %s"
    ).format(
        table=name,
        key=sql.Identifier(table.key),
        changes=sql.SQL(", ").join(
            sql.SQL("{0} = given.{0}").format(sql.Identifier(column)) for column in table.later
        ),
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [json.dumps(rows), current_workspace_id()])
