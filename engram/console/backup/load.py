"""Load a backup into the database in one transaction: all of it, as it was, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import Error, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from engram.console.backup.archive import Backup
from engram.console.backup.manifest import BackupError, Manifest, Node, applied_nodes
from engram.console.backup.tables import (
    TableOf,
    copied_rows,
    our_tables,
    workspace_ids,
    write_alike,
)
from engram.console.backup.target import remove_everything
from engram.console.backup.write import Digested
from engram.kernel.garbage import rare_collections

Advance = Callable[[int], object]
FOREIGN_KEYS = """
    SELECT c.conrelid::regclass::text, quote_ident(c.conname), pg_get_constraintdef(c.oid)
    FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
    WHERE c.contype = 'f' AND t.relname = ANY(%s) ORDER BY 1, 2
"""
INDEXES = """
    SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
    WHERE t.relname = ANY(%s)
      AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
    ORDER BY 1
"""


def load(
    backup: Backup, *, agree: Callable[[], object], advance: Advance = lambda size: None
) -> None:
    """Replace the content of the database by a backup's, and compare every row with it.

    `agree` is called first in the transaction, and raises `BackupError` where the database may not
    be replaced. `advance` is told the bytes that were loaded or compared: twice those of all
    tables. Raise `BackupError`, and change nothing, when it cannot be restored or is not equal
    afterwards.
    """
    manifest = backup.manifest
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            agree()
            remove_everything()
            _migrate(applied_nodes(manifest))
            tables = _matching_tables(manifest)
            with _bare(cursor, tables):
                _copy_in(cursor, backup, advance)
            for sequence in manifest.sequences:
                cursor.execute(
                    "SELECT setval(quote_ident(%s)::regclass, %s, %s)",
                    [sequence.name, sequence.last_value, sequence.is_called],
                )
            compare(cursor, manifest, advance)
    except Error as error:
        message = str(error).strip().splitlines()[0]
        raise BackupError(f"It cannot be restored: {message}. Nothing was changed.") from None
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def compare(cursor: Any, manifest: Manifest, advance: Advance = lambda size: None) -> None:
    """Read all tables as a backup does; raise `BackupError` at the first that differs."""
    write_alike(cursor)
    workspaces = workspace_ids(cursor)
    known = {table.name: table for table in our_tables()}
    for stored in manifest.tables:
        digested = Digested()
        rows = copied_rows(cursor, known[stored.name], stored.columns, workspaces)
        for block in digested.blocks(rows):
            advance(len(block))
        if (digested.rows, digested.sha256) != (stored.rows, stored.sha256):
            raise BackupError(
                f"{stored.name} has {digested.rows} rows after it was restored, and {stored.rows} "
                "in the backup, or their content differs. Nothing was changed."
            )


def _migrate(nodes: set[Node]) -> None:
    """Make the tables by the migrations of the backup, without later ones."""
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    nodes = nodes & set(graph.nodes)
    last = [n for n in nodes if not any(c.key in nodes for c in graph.node_map[n].children)]
    with rare_collections():
        executor.migrate(sorted(last))


def _matching_tables(manifest: Manifest) -> list[TableOf]:
    tables = our_tables()
    ours = {table.name: set(table.columns) for table in tables}
    theirs = {stored.name: set(stored.columns) for stored in manifest.tables}
    if ours != theirs:
        names = ours.keys() | theirs.keys()
        name = next(name for name in sorted(names) if ours.get(name) != theirs.get(name))
        raise BackupError(
            f"The table {name} of the backup is not the one that its migrations make. Nothing was "
            "changed."
        )
    return tables


@contextmanager
def _bare(cursor: Any, tables: Sequence[TableOf]) -> Iterator[None]:
    """Take foreign keys, indexes and row-level security off, and put them back.

    COPY does not write where row-level security holds; keys and indexes are made faster afterwards.
    """
    names = [table.name for table in tables]
    cursor.execute(FOREIGN_KEYS, [names])
    keys = cursor.fetchall()
    cursor.execute(INDEXES, [names])
    indexes = cursor.fetchall()
    confined = [connection.ops.quote_name(one.name) for one in tables if one.is_confined]
    for table, name, _ in keys:
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    for name, _ in indexes:
        cursor.execute(f"DROP INDEX {name}")
    for table in confined:
        cursor.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    yield
    for _, definition in indexes:
        cursor.execute(definition)
    for table, name, definition in keys:
        cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
    for table in confined:
        cursor.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")


def _copy_in(cursor: Any, backup: Backup, advance: Advance) -> None:
    quote = connection.ops.quote_name
    tables = ", ".join(quote(stored.name) for stored in backup.manifest.tables)
    cursor.execute(f"TRUNCATE {tables}")  # what migrations have written
    for stored in backup.manifest.tables:
        columns = ", ".join(map(quote, stored.columns))
        with cursor.copy(f"COPY {quote(stored.name)} ({columns}) FROM STDIN") as copy:
            for block in backup.blocks(stored):
                copy.write(block)
                advance(len(block))
