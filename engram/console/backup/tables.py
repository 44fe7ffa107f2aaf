"""The tables of the database as its catalogue has them, and their rows as a stream of bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import connection

# Values are written the same whatever the server's settings, so that digests can be compared.
FORMATS = {
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
}
TABLES = """
    SELECT c.relname, c.relrowsecurity,
        (SELECT array_agg(a.attname ORDER BY a.attnum) FROM pg_attribute a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
           AND a.attgenerated = ''),
        (SELECT array_agg(quote_ident(a.attname)
                || CASE WHEN a.attcollation <> 0 THEN ' COLLATE "C"' ELSE '' END
                ORDER BY array_position(i.indkey::int2[], a.attnum))
         FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey)
         WHERE i.indrelid = c.oid AND i.indisprimary)
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
    ORDER BY c.relname
"""
SEQUENCES = """
    SELECT s.relname FROM pg_class s
    JOIN pg_depend d ON d.objid = s.oid AND d.deptype IN ('a', 'i')
    JOIN pg_class t ON t.oid = d.refobjid
    WHERE s.relkind = 'S' AND s.relnamespace = 'public'::regnamespace AND t.relname = ANY(%s)
    ORDER BY s.relname
"""


@dataclass(frozen=True, slots=True)
class TableOf:
    """A table: its columns, what its rows are ordered by, and whether they belong to workspaces."""

    name: str
    columns: tuple[str, ...]
    order: tuple[str, ...]
    is_confined: bool


def our_tables() -> list[TableOf]:
    """Return the tables that migrations of this product made, by name."""
    return [table for table in _tables() if _is_ours(table.name)]


def foreign_tables() -> list[str]:
    """Return the names of tables that are somebody else's."""
    return [table.name for table in _tables() if not _is_ours(table.name)]


def _tables() -> list[TableOf]:
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        return [
            TableOf(name, tuple(columns), tuple(order or columns), is_confined)
            for name, is_confined, columns, order in cursor.fetchall()
        ]


def _is_ours(name: str) -> bool:
    return name.startswith(("django_", *(f"{app.label}_" for app in apps.get_app_configs())))


def sequences_of(tables: Sequence[TableOf]) -> list[tuple[str, int, bool]]:
    """Return the name, last value and state of the sequences that number rows of tables."""
    found = []
    with connection.cursor() as cursor:
        cursor.execute(SEQUENCES, [[table.name for table in tables]])
        for (name,) in cursor.fetchall():
            quoted = connection.ops.quote_name(name)
            cursor.execute(f"SELECT last_value, is_called FROM {quoted}")  # noqa: S608
            last_value, is_called = cursor.fetchone()
            found.append((name, last_value, is_called))
    return found


def write_alike(cursor: Any) -> None:
    """Let values be written in the same way for the rest of the transaction."""
    for name, value in FORMATS.items():
        cursor.execute("SELECT set_config(%s, %s, true)", [name, value])


def workspace_ids(cursor: Any) -> list[UUID]:
    """Return the ids of all workspaces in order; none where there is no such table yet."""
    cursor.execute("SELECT to_regclass('public.kernel_workspace') IS NOT NULL")
    if not cursor.fetchone()[0]:
        return []
    cursor.execute("SELECT id FROM kernel_workspace ORDER BY id")
    return [row[0] for row in cursor.fetchall()]


def copied_rows(
    cursor: Any, table: TableOf, columns: Sequence[str], workspaces: Sequence[UUID]
) -> Iterator[memoryview | bytes]:
    """Yield the rows of a table, one at a time, in PostgreSQL's text format.

    Rows of workspaces are read workspace by workspace, because row-level security shows no others.
    """
    quote = connection.ops.quote_name
    names, order = ", ".join(map(quote, columns)), ", ".join(table.order)
    source = f"SELECT {names} FROM {quote(table.name)}"  # noqa: S608  names of the catalogue
    if not table.is_confined:
        yield from _copied(cursor, f"{source} ORDER BY {order}")
        return
    for workspace in workspaces:
        cursor.execute("SELECT set_config('engram.workspace', %s, true)", [str(workspace)])
        yield from _copied(cursor, f"{source} WHERE workspace_id = '{workspace}' ORDER BY {order}")
    cursor.execute("SELECT set_config('engram.workspace', '', true)")


def _copied(cursor: Any, query: str) -> Iterator[memoryview | bytes]:
    with cursor.copy(f"COPY ({query}) TO STDOUT") as copy:
        yield from copy
