"""Keeping PostgreSQL's planner from a trap that costs minutes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def without_nested_loops() -> Iterator[None]:
    """Join by hash within the block.

    Tables that grew since they were last analysed (a new database, an import, a transaction that
    is rolled back) look empty to the planner. It then joins two of them row by row without an
    index: 243 ms instead of 1 ms for the neighbours of one memory among 1,000.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_nestloop = off")
        yield
        cursor.execute("SET LOCAL enable_nestloop = on")
