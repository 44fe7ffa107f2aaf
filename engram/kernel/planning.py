"""Set planner options for queries whose best plan is known.

Tables that grew since the last ANALYZE (a new database, an import, a transaction that is rolled
back), and workspaces that were small then, look empty to PostgreSQL's planner. It then uses nested
loops without an index, or sequential scans, which can take seconds. Options apply within the block
and the transaction; a nested block with the same options costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Lookup

from engram.kernel.tenancy import Tenant, before_writing, in_workspace

_BY_INDEX = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_nestloop": "on",
}
_IN_ORDER = {
    "enable_sort": "off",
    "enable_bitmapscan": "off",
    # Continue an index scan of HNSW when the filter leaves too few rows.
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "100",
    "hnsw.max_scan_tuples": "20000",
}


# Otherwise PostgreSQL plans a prepared statement anew each time, .3 to .7 ms, when the plan for its
# parameters seems cheaper than one for all. That expects thousands of rows and would start parallel
# workers for a few: the neighbours of a statement among 1,000 memories, beside 100,000 of another
# workspace, took 8 ms and take 1.3 without.
_KEEP_PLANS = {"plan_cache_mode": "force_generic_plan", "max_parallel_workers_per_gather": "0"}
_SEARCHING = _BY_INDEX | _IN_ORDER | _KEEP_PLANS
_ALLOW_SORTS = {"enable_sort": "on", "enable_bitmapscan": "on"}
_applied: ContextVar[Mapping[str, str]] = ContextVar("engram_planned", default={})  # noqa: B039


class Among(Lookup):
    """Lookup of one id among many with a single array parameter; `__in` sends one per id."""

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
    """Apply settings within the block and restore the former ones; one round trip each."""
    applied = _applied.get()
    if settings.items() <= applied.items():
        yield
        return
    token = _applied.set({**applied, **settings})
    try:
        with _apply(settings):
            yield
    finally:
        _applied.reset(token)


@contextmanager
def _apply(settings: dict[str, str]) -> Iterator[None]:
    with connection.cursor() as cursor:
        # A setting of pgvector is empty on a connection that has set it and has not loaded pgvector
        # yet; to restore "" would be refused once it is loaded, and NULL restores the default.
        both = "nullif(current_setting(%s, true), ''), set_config(%s, %s, true)"
        columns = ", ".join([both] * len(settings))
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
def statement_timeout(seconds: float) -> Iterator[None]:
    """Set a statement timeout within the block, at least a millisecond."""
    with _with_settings({"statement_timeout": f"{max(1, int(seconds * 1000))}ms"}):
        yield


@contextmanager
def without_nested_loops() -> Iterator[None]:
    """Disable nested loops within the block: 1 ms instead of 243 for neighbours among 1,000."""
    with _with_settings({"enable_nestloop": "off"}):
        yield


@contextmanager
def by_index() -> Iterator[None]:
    """Disable sequential scans within the block, independent of statistics."""
    with _with_settings(_BY_INDEX):
        yield


@contextmanager
def searching(workspace: Tenant | UUID) -> Iterator[None]:
    """Set the current workspace for reads, planned as in `by_index_in_order`.

    Prepared statements keep one plan for all parameters.
    """
    opened = in_workspace(workspace, options=_SEARCHING, makes_savepoint=False)
    with _within(opened, _SEARCHING):
        yield


@contextmanager
def searching_before_writing(workspace: Tenant | UUID) -> Iterator[None]:
    """Plan reads as `searching` does, in the transaction of `before_writing`."""
    with _within(before_writing(workspace, options=_SEARCHING), _SEARCHING):
        yield


@contextmanager
def writing(workspace: Tenant | UUID, *, in_order: bool = False) -> Iterator[None]:
    """Set the current workspace for reads and writes, planned as in `by_index`.

    With `in_order` as in `by_index_in_order`. Prepared statements keep one plan for all parameters.
    """
    settings = _BY_INDEX | (_IN_ORDER if in_order else {}) | _KEEP_PLANS
    with _within(in_workspace(workspace, options=settings), settings):
        yield


@contextmanager
def _within(transaction: AbstractContextManager[bool], settings: dict[str, str]) -> Iterator[None]:
    """Enter a transaction that makes settings with the workspace, in one round trip.

    They end with it. In a transaction that has begun before they are left to the blocks within.
    """
    with transaction as is_made:
        token = _applied.set({**_applied.get(), **settings}) if is_made else None
        try:
            yield
        finally:
            if token is not None:
                _applied.reset(token)


@contextmanager
def by_index_in_order() -> Iterator[None]:
    """Disable sequential scans and sorts within the block, for recall."""
    with _with_settings(_BY_INDEX | _IN_ORDER):
        yield


@contextmanager
def by_index_sorted() -> Iterator[None]:
    """Disable sequential scans but allow sorts, within a block that disables them."""
    with _with_settings(_BY_INDEX | _ALLOW_SORTS):
        yield
