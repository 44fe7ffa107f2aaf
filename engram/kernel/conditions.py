"""Compile the filter of a queryset for use in hand-written SQL.

The hot path uses plain SQL: the ORM takes a millisecond or two to compile a statement, and several
queries fit in one round trip. Which rows may be read is still defined by scoped managers.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet

_PLACEHOLDER = re.compile(r"%%|%s")


class Condition(NamedTuple):
    """An SQL condition on the rows of one table, which it refers to by the table's name."""

    sql: str
    parameters: dict[str, Any]  # by placeholder name


_compiled: WeakKeyDictionary[QuerySet[Any], Condition] = WeakKeyDictionary()


def condition_of(rows: QuerySet[Any]) -> Condition:
    """Return the filter of a queryset, without its order.

    Querysets are immutable, so each is compiled only once.
    """
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
