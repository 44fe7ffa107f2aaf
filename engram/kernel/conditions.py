"""The filter of a queryset as a part of hand-written SQL.

The hot path asks in plain SQL: to compile a statement takes the ORM a millisecond or two, and
several questions fit in one round trip. What may be seen is said by scoped managers all the same.
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
    """A condition on the rows of one table, which stands in it by its own name."""

    sql: str
    parameters: dict[str, Any]  # of its named placeholders


_compiled: WeakKeyDictionary[QuerySet[Any], Condition] = WeakKeyDictionary()


def condition_of(rows: QuerySet[Any]) -> Condition:
    """Return what a queryset asks of each row of its table; its order is left out.

    A queryset never changes: it is compiled once, however many statements are built with it.
    """
    if (known := _compiled.get(rows)) is None:
        known = _compiled[rows] = _compile(rows)
    return known


def _compile(rows: QuerySet[Any]) -> Condition:
    if rows.query.is_sliced:
        raise ValueError("a limit is nothing that one row fulfils")
    if sum(map(bool, rows.query.alias_refcount.values())) > 1:  # its joins stay inside
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
