"""Insert new rows of several tables in one round trip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from django.db import connection
from django.db.models import Field, Model

from engram.kernel.tenancy import stamp


def insert(rows: Iterable[Model]) -> None:
    """Insert rows in their order; set primary keys that the database generates.

    Sends no signals, as `bulk_create`.
    """
    groups = [list(group) for _, group in groupby(rows, key=type)]
    if not groups:
        return
    with connection.cursor() as cursor:
        # Bound row by row, because statements with more parameters would be parsed every time.
        cursor.execute("; ".join(_bind_rows(group, cursor.mogrify) for group in groups))
        for position, group in enumerate(groups):
            if position:
                cursor.nextset()
            keys = cursor.fetchall() if cursor.description else [(row.pk,) for row in group]
            for row, (key,) in zip(group, keys, strict=True):
                row.pk = key
                row._state.adding = False


def _bind_rows(group: Sequence[Model], bind: Callable[[str, Sequence[Any]], str]) -> str:
    fields, head, one, returning = _shape(type(group[0]))
    rows = []
    for row in group:
        stamp(row)
        rows.append(bind(one, list(_values(row, fields))))
    return f"{head} {', '.join(rows)}{returning}"


@lru_cache(maxsize=64)
def _shape(model: type[Model]) -> tuple[Sequence[Field[Any, Any]], str, str, str]:
    """Return the fields of a model to insert, and the parts of its statement."""
    meta = model._meta
    quote = connection.ops.quote_name
    made = meta.auto_field
    fields = [field for field in meta.local_concrete_fields if field is not made]
    columns = ", ".join(quote(str(field.column)) for field in fields)
    head = f"INSERT INTO {quote(meta.db_table)} ({columns}) VALUES"
    one = f"({', '.join(['%s'] * len(fields))})"
    return fields, head, one, f" RETURNING {quote(str(made.column))}" if made is not None else ""


def _values(row: Model, fields: Sequence[Field[Any, Any]]) -> Iterable[Any]:
    for field in fields:
        yield field.get_db_prep_save(field.pre_save(row, add=True), connection)
