"""Build model instances from rows of hand-written SQL, where the ORM's compilation is too slow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model

M = TypeVar("M", bound=Model)
_Reader = tuple[int, Callable[..., Any], Any]


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
