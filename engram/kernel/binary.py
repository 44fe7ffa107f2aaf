"""Rows as PostgreSQL keeps them: bytes come as bytes, not as twice as many hexadecimal digits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.db.backends.utils import CursorWrapper
from psycopg import Cursor
from psycopg.pq import Format


@contextmanager
def binary_cursor() -> Iterator[CursorWrapper]:
    """Open a cursor whose answers and parameters are binary; otherwise it is Django's own."""
    connection.ensure_connection()
    with Cursor(connection.connection) as cursor:
        cursor.format = Format.BINARY
        yield CursorWrapper(cursor, connection)
