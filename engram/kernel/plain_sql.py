"""Plain SQL beside the ORM: compile the filters of querysets into it, build instances of its rows.

The hot path uses plain SQL: the ORM takes a millisecond or two to compile a statement, and several
queries fit in one round trip. Which rows may be read is still defined by scoped managers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID
from weakref import WeakKeyDictionary

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Exists, Model, OuterRef, QuerySet

from engram.kernel.binary import pack_ids, prepared_cursor
from engram.kernel.tenancy import current_workspace_id

M = TypeVar("M", bound=Model)
_Reader = tuple[int, Callable[..., Any], Any]

# Stands for the time in a condition that is compiled once, see `Condition.replace`.
ANY_TIME = datetime(1, 1, 1, tzinfo=UTC)
_PLACEHOLDER = re.compile(r"%%|%s")


class Condition(NamedTuple):
    """An SQL condition on the rows of one table, which it refers to by the table's name."""

    sql: str
    parameters: dict[str, Any]  # by placeholder name

    def replace(self, value: Any, by: Any) -> Condition:
        """Return the condition with another value of a parameter."""
        return Condition(
            self.sql, {n: by if own == value else own for n, own in self.parameters.items()}
        )


class Selection(Generic[M]):
    """Rows of a model: their SQL condition, and the queryset, which is built when it is needed."""

    def __init__(self, condition: Condition, build: Callable[[], QuerySet[M]]) -> None:
        self.condition = condition
        self._build = build

    @cached_property
    def queryset(self) -> QuerySet[M]:
        """Return the rows as a queryset."""
        return self._build()


Rows = QuerySet[M] | Selection[M]


_compiled: WeakKeyDictionary[QuerySet[Any], Condition] = WeakKeyDictionary()


def queryset_of(rows: Rows[M]) -> QuerySet[M]:
    """Return the queryset of rows."""
    return rows.queryset if isinstance(rows, Selection) else rows


def condition_of(rows: Rows[Any]) -> Condition:
    """Return the filter of a queryset, without its order.

    Querysets are immutable, so each is compiled only once.
    """
    if isinstance(rows, Selection):
        return rows.condition
    if (known := _compiled.get(rows)) is None:
        known = _compiled[rows] = _compile(rows)
    return known


def _compile(rows: QuerySet[Any]) -> Condition:
    if rows.query.is_sliced:
        raise ValueError("a limit is nothing that one row fulfils")
    if sum(map(bool, rows.query.alias_refcount.values())) > 1:  # joins go into a sub-select
        rows = rows.model._default_manager.filter(Exists(rows.filter(pk=OuterRef("pk"))))
    compiler = rows.query.get_compiler(connection=connection)
    try:
        sql, values = rows.query.where.as_sql(compiler, connection)
    except EmptyResultSet:
        return Condition("false", {})
    parameters = {f"condition_{position}": value for position, value in enumerate(values)}
    names = iter(parameters)
    named = _PLACEHOLDER.sub(lambda m: "%%" if m[0] == "%%" else f"%({next(names)})s", sql)
    return Condition(f"({named})", parameters)


@lru_cache(maxsize=64)
def columns_of(model: type[Model], alias: str) -> str:
    """Return the columns of a model in the order that `from_row` reads them."""
    quote = connection.ops.quote_name
    columns = (quote(str(field.column)) for field in model._meta.concrete_fields)
    return ", ".join(f"{quote(alias)}.{column}" for column in columns)


def from_row(model: type[M], values: Sequence[Any]) -> M:
    """Return the instance of a row."""
    names, readers = _shape(model)
    row = list(values)
    for position, read, column in readers:
        row[position] = read(row[position], column, connection)
    return model.from_db(connection.alias, names, row)


def rows_of(model: type[M], ids: Collection[UUID]) -> dict[UUID, M]:
    """Return the current workspace's rows of a model by id."""
    table = connection.ops.quote_name(model._meta.db_table)
    with prepared_cursor() as cursor:
        cursor.execute(
            f"SELECT {columns_of(model, model._meta.db_table)} FROM {table}"  # noqa: S608  names
            " WHERE workspace_id = %(workspace)s AND id = ANY(%(ids)s::uuid[])",
            {"workspace": current_workspace_id(), "ids": pack_ids(ids)},
        )
        found = (from_row(model, values) for values in cursor.fetchall())
        return {row.pk: row for row in found}


@lru_cache(maxsize=64)
def _shape(model: type[Model]) -> tuple[list[str], list[_Reader]]:
    """Return the names of a model's attributes, and the converters of its fields."""
    fields = model._meta.concrete_fields
    readers = [
        (position, field.from_db_value, field.get_col(model._meta.db_table))
        for position, field in enumerate(fields)
        if hasattr(field, "from_db_value")
    ]
    return [field.attname for field in fields], readers
