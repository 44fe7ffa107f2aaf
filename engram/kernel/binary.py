"""Database cursors in PostgreSQL's binary format, so that bytes are not sent as hex text."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from struct import pack
from typing import Any, NamedTuple, Self
from uuid import UUID
from weakref import WeakSet

import numpy as np
from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper
from numpy.typing import NDArray
from psycopg import Connection, Cursor
from psycopg.adapt import Dumper
from psycopg.pq import Format

_TEXT, _UUID, _ID_SIZE, _ID_CELL = 25, 2950, pack(">i", 16), 20
_registered: WeakSet[Connection[Any]] = WeakSet()
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


class PackedArray(NamedTuple):
    """One array parameter in PostgreSQL's binary format; see `pack_ids` and `pack_texts`."""

    encoded: bytes


def pack_ids(ids: Collection[UUID]) -> PackedArray:
    """Return ids as one array parameter; psycopg would write and quote each as text.

    They are read at once: a queryset that is read while a statement is being sent would wait for
    its own connection for ever.
    """
    cells = b"".join([_ID_SIZE + one.bytes for one in ids])
    count = len(cells) // _ID_CELL
    head = pack(">iiiii", 1, 0, _UUID, count, 1) if count else pack(">iii", 0, 0, _UUID)
    return PackedArray(head + cells)


def pack_texts(texts: Collection[str]) -> PackedArray:
    """Return texts as one array parameter; the statement casts to `text[]`."""
    encoded = [text.encode() for text in texts]
    count = len(encoded)
    head = pack(">iiiii", 1, 0, _TEXT, count, 1) if count else pack(">iii", 0, 0, _TEXT)
    cells = [part for one in encoded for part in (pack(">i", len(one)), one)]
    return PackedArray(b"".join([head, *cells]))


class _ArrayPacker(Dumper):
    format = Format.BINARY

    def dump(self, obj: PackedArray) -> bytes:
        """Return a one-dimensional array: each element after its size."""
        return obj.encoded


class PackedVector(NamedTuple):
    """A vector as one parameter in pgvector's binary format; the statement casts to `vector`."""

    values: NDArray[np.floating]


class _VectorPacker(Dumper):
    format = Format.BINARY

    def dump(self, obj: PackedVector) -> bytes:
        """Return the dimension, two unused bytes, and the values as float32."""
        return pack(">HH", len(obj.values), 0) + obj.values.astype(">f4").tobytes()


class _PreparingCursor(Cursor[Any]):
    """A cursor that prepares each statement at once, where `PREPARES_STATEMENTS` says so."""

    def execute(self, *args: Any, **options: Any) -> Self:
        """Execute a statement."""
        # Only meanwhile: a connection that may prepare keeps its last 100 statements to count them,
        # and in those of Django's cursors the parameters, whole batches of rows, are part of them.
        self.connection.prepare_threshold = 0 if settings.PREPARES_STATEMENTS else None
        try:
            return super().execute(*args, **options)
        finally:
            self.connection.prepare_threshold = None


def without_indentation(statement: str) -> str:
    """Return SQL without its indentation: psycopg remembers the parsing of 4,096 characters."""
    return " ".join(statement.split())


@contextmanager
def binary_cursor(*, prepares: bool = False) -> Iterator[CursorWrapper]:
    """Open Django's cursor with binary results; it accepts parameters of this module.

    With `prepares` the connection parses a statement once, and the server keeps its plan where
    `engram.kernel.planning` says so. Only for statements whose best plan does not depend on their
    parameters, nor on a partial index that is chosen by one.
    """
    with _open(_PreparingCursor if prepares else Cursor) as cursor:
        cursor.cursor.format = Format.BINARY
        yield cursor


@contextmanager
def prepared_cursor() -> Iterator[CursorWrapper]:
    """Open such a cursor that prepares statements, with results in the format that models read."""
    with _open(_PreparingCursor) as cursor:
        yield cursor


@contextmanager
def _open(kind: type[Cursor[Any]]) -> Iterator[CursorWrapper]:
    connection.ensure_connection()
    _register_dumpers(connection.connection)
    with kind(connection.connection) as cursor:
        yield CursorWrapper(cursor, connection)


def _register_dumpers(opened: Connection[Any]) -> None:
    """Let a connection accept the parameters of this module; once, as each cursor would copy it."""
    if opened not in _registered:
        opened.adapters.register_dumper(Packed, _Packer)
        opened.adapters.register_dumper(PackedArray, _ArrayPacker)
        opened.adapters.register_dumper(PackedVector, _VectorPacker)
        _registered.add(opened)
