"""Insert rows of JSON in one statement: `bulk_create` takes ten times as long."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import Field
from psycopg import sql

from engram.kernel.tenancy import WorkspaceModel, current_workspace_id

_INSERT = sql.SQL(
    "INSERT INTO {table} (workspace_id, {columns})"
    " SELECT %s, {columns} FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb)"
)
_UNLESS_THERE = sql.SQL(" ON CONFLICT ({key}) DO NOTHING")


def insert_rows(
    model: type[WorkspaceModel],
    fields: Sequence[Field[Any, Any]],
    rows: Sequence[dict[str, Any]],
    *,
    keeps_existing: bool = False,
) -> None:
    """Insert rows, each by the names of its columns, into the current workspace.

    With `keeps_existing`, rows whose primary key exists are left out.
    """
    table = model._meta.db_table
    names = [sql.Identifier(str(field.column)) for field in fields]
    statement = _INSERT.format(table=sql.Identifier(table), columns=sql.SQL(", ").join(names))
    if keeps_existing:
        key = sql.Identifier(str(model._meta.pk.column))
        statement += _UNLESS_THERE.format(key=key)
    with connection.cursor() as cursor:
        cursor.execute(statement, [current_workspace_id(), json.dumps(rows)])
