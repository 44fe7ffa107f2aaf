"""Database cursors in PostgreSQL's binary format, so that bytes are not sent as hex text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from struct import pack
from typing import Any, NamedTuple, Self

import numpy as np
from django.db import connection
from django.db.backends.utils import CursorWrapper
from numpy.typing import NDArray
from psycopg import Cursor
from psycopg.adapt import Dumper
from psycopg.pq import Format

_ELEMENTS = {"f8": 701, "i4": 23, "b1": 16}  # numpy type → OID of PostgreSQL's type


class Packed(NamedTuple):
    """A numpy array as one array parameter, encoded at once instead of element by element.

    The types float64, int32 and bool are supported; the statement casts to the array's type.
    """

    values: NDArray[np.generic]


class _Packer(Dumper):
    format = Format.BINARY

    def dump(self, obj: Packed) -> bytes:
        """Return a one-dimensional array in PostgreSQL's format: each element after its size."""
        kind = obj.values.dtype
        element = _ELEMENTS[kind.str[1:]]
        if not obj.values.size:
            return pack(">iii", 0, 0, element)
        cells = np.empty(obj.values.size, [("size", ">i4"), ("value", kind.newbyteorder(">"))])
        cells["size"] = kind.itemsize
        cells["value"] = obj.values
        return pack(">iiiii", 1, 0, element, obj.values.size, 1) + cells.tobytes()


class _OnceCursor(Cursor[Any]):
    """A cursor that never prepares a statement: each is planned for its parameters."""

    def execute(self, *args: Any, **options: Any) -> Self:
        """Execute a statement."""
        return super().execute(*args, **options | {"prepare": False})


@contextmanager
def binary_cursor(*, prepares: bool = False) -> Iterator[CursorWrapper]:
    """Open Django's cursor with binary results and parameters.

    With `prepares` the server keeps the plan of a statement that the connection has executed a few
    times. Only for statements whose best plan does not depend on their parameters, nor on a partial
    index that is chosen by one.
    """
    connection.ensure_connection()
    kind = Cursor if prepares else _OnceCursor
    with kind(connection.connection) as cursor:
        cursor.format = Format.BINARY
        yield CursorWrapper(cursor, connection)


@contextmanager
def prepared_cursor() -> Iterator[CursorWrapper]:
    """Open a cursor that prepares statements, with results in the format that models read."""
    connection.ensure_connection()
    with Cursor(connection.connection) as cursor:
        yield CursorWrapper(cursor, connection)


@contextmanager
def packing_cursor() -> Iterator[CursorWrapper]:
    """Open a binary cursor that accepts `Packed` parameters."""
    with binary_cursor() as cursor:
        cursor.cursor.adapters.register_dumper(Packed, _Packer)
        yield cursor
