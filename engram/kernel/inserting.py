"""Insert new rows of several tables in one round trip."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Field, Model
from psycopg import abc, adapt

from engram.kernel.tenancy import stamp


@dataclass(frozen=True, slots=True)
class Companion:
    """Rows that an upper app writes with the new rows of a model, in the same statement.

    `statement` is an `INSERT … SELECT …` that reads the new rows as `fresh`, without parameters.
    `announce` is called within the transaction, and only if it wrote rows.
    """

    statement: str
    announce: Callable[[], object]


_SHARED = (str, UUID, datetime)  # of equal ones of a field every literal is the same

_companions: dict[type[Model], Companion] = {}


def accompany(model: type[Model], companion: Companion) -> None:
    """Let a companion write rows with all rows of a model that `insert` writes from now on.

    This costs no query of its own, so that what hardly anybody uses slows down no request.
    """
    _companions[model] = companion


def insert(rows: Iterable[Model]) -> None:
    """Insert rows in their order; set primary keys that the database generates.

    Sends no signals, as `bulk_create`.
    """
    groups = [list(group) for _, group in groupby(rows, key=type)]
    if not groups:
        return
    with connection.cursor() as cursor:
        # As literals, because a statement with so many parameters would be parsed every time.
        literals = adapt.Transformer.from_context(cursor.connection)
        cursor.execute("; ".join(_bind_rows(group, literals) for group in groups))
        for position, group in enumerate(groups):
            if position:
                cursor.nextset()
            keys = cursor.fetchall() if cursor.description else [(row.pk, 0) for row in group]
            for row, (key, *_) in zip(group, keys, strict=True):
                row.pk = key
                row._state.adding = False
            announce(type(group[0]), keys)


def with_companion(model: type[Model], written: str) -> str:
    """Return an INSERT of a model's rows, with its companion's, that returns keys in order.

    Each row of the answer is a key and how many rows the companion wrote: see `announce`.
    """
    key = connection.ops.quote_name(str(model._meta.pk.column))
    companion = _companions.get(model)
    if companion is None:
        return f"{written} RETURNING {key}, 0"
    fresh = f"WITH fresh AS ({written} RETURNING *)"
    more = f"companion AS ({companion.statement} RETURNING 1)"
    keys = f"SELECT {key}, (SELECT count(*) FROM companion) FROM fresh ORDER BY 1"  # noqa: S608
    return f"{fresh}, {more} {keys}"


def announce(model: type[Model], keys: Sequence[Sequence[int]]) -> None:
    """Tell a model's companion that it wrote rows, if it did; `keys` are what the INSERT gave."""
    companion = _companions.get(model)
    if companion is not None and any(count for _, count in keys[:1]):
        companion.announce()


def _bind_rows(group: Sequence[Model], literals: abc.Transformer) -> str:
    fields, head, returning = _shape(type(group[0]))
    known: dict[tuple[str, Hashable], str] = {}
    rows = []
    for row in group:
        stamp(row)
        rows.append(f"({', '.join(_bind(field, row, literals, known) for field in fields)})")
    written = f"{head} {', '.join(rows)}"
    if type(group[0]) in _companions:
        return with_companion(type(group[0]), written)
    return f"{written}{returning}"


@lru_cache(maxsize=64)
def _shape(model: type[Model]) -> tuple[Sequence[Field[Any, Any]], str, str]:
    """Return the fields of a model to insert, and the two ends of its statement."""
    meta = model._meta
    quote = connection.ops.quote_name
    made = meta.auto_field
    fields = [field for field in meta.local_concrete_fields if field is not made]
    columns = ", ".join(quote(str(field.column)) for field in fields)
    head = f"INSERT INTO {quote(meta.db_table)} ({columns}) VALUES"
    return fields, head, f" RETURNING {quote(str(made.column))}" if made is not None else ""


def _bind(
    field: Field[Any, Any],
    row: Model,
    literals: abc.Transformer,
    known: dict[tuple[str, Hashable], str],
) -> str:
    """Return the literal of a row's value; of a value that rows share it is made once."""
    value = field.pre_save(row, add=True)
    key = (field.attname, value) if isinstance(value, _SHARED) else None
    if key is not None and key in known:
        return known[key]
    prepared = field.get_db_prep_save(value, connection)
    literal = literals.as_literal(prepared).decode()
    if key is not None:
        known[key] = literal
    return literal
