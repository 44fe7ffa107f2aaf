"""Keeping PostgreSQL's planner from traps that cost seconds.

Tables that grew since they were last analysed (a new database, an import, a transaction that is
rolled back), and workspaces that were small then, look empty to the planner. It then joins two of
them row by row without an index, or reads one whole. Queries whose shape says which index serves
them tell it so. Settings hold within the block and within the transaction; a block within a block
that made the same settings costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Lookup

_BY_INDEX = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_nestloop": "on",
}
_IN_ORDER = {
    "enable_sort": "off",
    "enable_bitmapscan": "off",
    # A scan that a filter leaves too few rows goes on where it stopped, instead of ending there.
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "100",
    "hnsw.max_scan_tuples": "20000",
}


_AS_EVER = {"enable_sort": "on", "enable_bitmapscan": "on"}
_standing: ContextVar[Mapping[str, str]] = ContextVar("engram_planned", default={})  # noqa: B039


class Among(Lookup):
    """An id is one of many: one parameter, where `__in` compiles and sends one for each."""

    prepare_rhs = False
    lookup_name = "among"

    def __init__(self, lhs: Any, ids: Collection[UUID]) -> None:
        super().__init__(lhs, "{%s}" % ",".join(map(str, ids)))  # noqa: UP031

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        """Return `column = ANY(array)`."""
        column, parameters = self.process_lhs(compiler, connection)
        return f"{column} = ANY(%s::uuid[])", (*parameters, self.rhs)


@contextmanager
def _with_settings(settings: dict[str, str]) -> Iterator[None]:
    """Apply settings within the block, and give those before it back; one round trip each."""
    standing = _standing.get()
    if settings.items() <= standing.items():
        yield
        return
    token = _standing.set({**standing, **settings})
    try:
        with _apply(settings):
            yield
    finally:
        _standing.reset(token)


@contextmanager
def _apply(settings: dict[str, str]) -> Iterator[None]:
    with connection.cursor() as cursor:
        columns = ", ".join(["current_setting(%s, true), set_config(%s, %s, true)"] * len(settings))
        cursor.execute(
            f"SELECT {columns}",
            [part for name, value in settings.items() for part in (name, name, value)],
        )
        before = cursor.fetchone()[::2]
        yield
        columns = ", ".join(["set_config(%s, %s, true)"] * len(settings))
        cursor.execute(
            f"SELECT {columns}",
            [p for name, value in zip(settings, before, strict=True) for p in (name, value)],
        )


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Cancel any statement within the block that takes longer, a millisecond at least."""
    with _with_settings({"statement_timeout": f"{max(1, int(seconds * 1000))}ms"}):
        yield


@contextmanager
def without_nested_loops() -> Iterator[None]:
    """Join by hash within the block: 1 ms instead of 243 for a memory's neighbours among 1,000."""
    with _with_settings({"enable_nestloop": "off"}):
        yield


@contextmanager
def by_index() -> Iterator[None]:
    """Look every row up by an index within the block, whatever the statistics say."""
    with _with_settings(_BY_INDEX):
        yield


@contextmanager
def by_index_in_order() -> Iterator[None]:
    """Do both: what recall does all the way."""
    with _with_settings(_BY_INDEX | _IN_ORDER):
        yield


@contextmanager
def by_index_sorted() -> Iterator[None]:
    """Look every row up by an index and sort what was found, within a block that would not."""
    with _with_settings(_BY_INDEX | _AS_EVER):
        yield
