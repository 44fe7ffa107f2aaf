"""The rows of a workspace in all tables: count them, and delete them in batches.

Every table with a foreign key to the workspace is taken from the models, of whatever app, so that
none can be forgotten; `tables_left` reads the catalog of the database instead, to verify it.
"""

from __future__ import annotations

from functools import lru_cache
from graphlib import TopologicalSorter
from uuid import UUID

from django.apps import apps
from django.db import connection, models

from engram.kernel.models import Workspace

Table = type[models.Model]


@lru_cache(maxsize=1)
def workspace_tables() -> tuple[Table, ...]:
    """Return the models with rows of a workspace, each before those that it refers to."""
    found = {
        model
        for model in apps.get_models()
        if model._meta.managed and any(key.related_model is Workspace for key in _keys(model))
    }
    sorter: TopologicalSorter[Table] = TopologicalSorter()
    for model in sorted(found, key=lambda model: model._meta.label):
        sorter.add(model)
        for key in _keys(model):
            if key.related_model in found and key.related_model is not model:
                sorter.add(key.related_model, model)
    return tuple(sorter.static_order())


def count_rows(workspace_id: UUID) -> dict[Table, int]:
    """Return the number of rows of the current workspace in each table that has any."""
    counts = {}
    with connection.cursor() as cursor:
        for model in workspace_tables():
            cursor.execute(
                f"SELECT count(*) FROM {_name(model)} WHERE workspace_id = %s",  # noqa: S608
                [workspace_id],
            )
            if count := cursor.fetchone()[0]:
                counts[model] = count
    return counts


def delete_rows(model: Table, workspace_id: UUID, *, most: int | None = None) -> int:
    """Delete up to `most` rows of the current workspace from a table; return their number.

    Nothing cascades: `workspace_tables` says in which order, and `unlink_rows` comes before.
    """
    table = _name(model)
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM {table} WHERE ctid = ANY(ARRAY("  # noqa: S608  names only
            f"SELECT ctid FROM {table} WHERE workspace_id = %s LIMIT %s))",
            [workspace_id, most],
        )
        return int(cursor.rowcount)


def unlink_rows(model: Table, workspace_id: UUID, *, most: int | None = None) -> int:
    """Empty the columns by which up to `most` rows refer to rows of the same table.

    Return their number. Batches of `delete_rows` would break these references.
    """
    table, emptied = _name(model), 0
    for key in _keys(model):
        if key.related_model is not model:
            continue
        column = connection.ops.quote_name(key.column)
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {table} SET {column} = NULL WHERE ctid = ANY(ARRAY("  # noqa: S608
                f"SELECT ctid FROM {table} WHERE workspace_id = %s AND {column} IS NOT NULL"
                " LIMIT %s))",
                [workspace_id, most],
            )
            emptied += cursor.rowcount
    return emptied


def tables_left(workspace_id: UUID) -> list[str]:
    """Return the names of the tables with rows of the current workspace, by the catalog."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid"
            " WHERE attname = 'workspace_id' AND NOT attisdropped AND relkind IN ('r', 'p')"
            " AND pg_table_is_visible(pg_class.oid) ORDER BY relname"
        )
        names = [row[0] for row in cursor.fetchall()]
        left = []
        for name in names:
            table = connection.ops.quote_name(name)
            cursor.execute(
                f"SELECT EXISTS (SELECT FROM {table} WHERE workspace_id = %s)",  # noqa: S608
                [workspace_id],
            )
            if cursor.fetchone()[0]:
                left.append(name)
    return left


def _keys(model: Table) -> list[models.ForeignKey[models.Model, models.Model]]:
    return [field for field in model._meta.local_fields if isinstance(field, models.ForeignKey)]


def _name(model: Table) -> str:
    return connection.ops.quote_name(model._meta.db_table)
