"""The current workspace, enforced by scoped managers and by row-level security.

`in_workspace(workspace)` opens a short transaction and sets the workspace in PostgreSQL
(`set_config(..., is_local => true)`, so that pooled connections do not keep it and PgBouncer in
transaction mode works). Outside it scoped managers raise `WorkspaceNotSetError` and row-level
security shows no rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self, TypeVar
from uuid import UUID

from django.db import connection, models, transaction
from django.db.migrations.operations import RunSQL
from django.db.models.expressions import RawSQL

from engram.kernel.binary import prepared_cursor

M = TypeVar("M", bound=models.Model)
_NO_OPTIONS: Mapping[str, str] = MappingProxyType({})
_current: ContextVar[UUID | None] = ContextVar("engram_workspace", default=None)
_is_rowless: ContextVar[bool] = ContextVar("engram_rowless", default=False)
_is_for_any: ContextVar[bool] = ContextVar("engram_for_any", default=False)
_joint: ContextVar[_Joint | None] = ContextVar("engram_joint", default=None)


class Tenant(Protocol):
    """The part of a workspace that is needed here; the model imports this module."""

    @property
    def pk(self) -> UUID: ...


# The sub-select makes the setting a constant of the plan: without it an exact vector scan of
# 100,000 rows would read and cast it once a row.
_CURRENT_SQL = "(SELECT nullif(current_setting('engram.workspace', true), '')::uuid)"


class WorkspaceNotSetError(RuntimeError):
    """A query of a workspace's rows ran outside `in_workspace`."""


def current_workspace_id() -> UUID:
    """Return the id of the current workspace."""
    workspace_id = _current.get()
    if workspace_id is None:
        raise WorkspaceNotSetError("this query needs `with in_workspace(...)` around it")
    return workspace_id


def has_workspace() -> bool:
    """Return whether there is a current workspace."""
    return _current.get() is not None


def set_database_variable(name: str, value: str) -> None:
    """Set a transaction-local setting that the policies read."""
    _set_variables({name: value})


def _set_variables(values: Mapping[str, str]) -> None:
    columns = ", ".join(["set_config(%s, %s, true)"] * len(values))
    with prepared_cursor() as cursor:
        cursor.execute(f"SELECT {columns}", [part for pair in values.items() for part in pair])


def release_connection() -> None:
    """Return this thread's connection to the pool before a long wait.

    Does nothing within a transaction.
    """
    if not connection.in_atomic_block:
        connection.close()


@contextmanager
def in_workspace(
    workspace: Tenant | UUID,
    *,
    options: Mapping[str, str] | None = None,
    makes_savepoint: bool = True,
) -> Iterator[bool]:
    """Set the current workspace within one transaction; nested in the same one, a savepoint.

    `options` are further settings of the database for a transaction that begins here; the block is
    given whether they are made. Without `makes_savepoint`, for blocks that only read, an error
    within a nested block ends the whole transaction.
    """
    workspace_id = workspace if isinstance(workspace, UUID) else workspace.pk
    is_first = _current.get() is None and not connection.in_atomic_block
    if _current.get() is None and (joint := _joint.get()) is not None:
        joint.open(workspace_id, options or {})
    with _serving(workspace_id, options or {}, makes_savepoint=makes_savepoint):
        yield is_first and bool(options)


@contextmanager
def before_writing(
    workspace: Tenant | UUID, *, options: Mapping[str, str] | None = None
) -> Iterator[bool]:
    """Set the current workspace as `in_workspace` does, without starting a joint transaction.

    For reads of a write before it embeds; the write must read again under its locks.
    """
    is_first = _current.get() is None and not connection.in_atomic_block
    workspace_id = workspace if isinstance(workspace, UUID) else workspace.pk
    with _serving(workspace_id, options or {}):
        yield is_first and bool(options)


@contextmanager
def _serving(
    workspace_id: UUID, options: Mapping[str, str] = _NO_OPTIONS, *, makes_savepoint: bool = True
) -> Iterator[None]:
    """Open a transaction, or a savepoint within that of the same workspace."""
    outer = _current.get()
    if outer is None:
        with _outermost(workspace_id, options):
            yield
        return
    if outer != workspace_id:
        raise RuntimeError("a transaction serves one workspace")
    with transaction.atomic(savepoint=makes_savepoint):
        yield


@contextmanager
def _outermost(workspace_id: UUID, options: Mapping[str, str] = _NO_OPTIONS) -> Iterator[None]:
    """Open the transaction and set the workspace in the database, and options if it ends here."""
    is_within_another = connection.in_atomic_block
    with transaction.atomic():
        own = _NO_OPTIONS if is_within_another else options
        _set_variables({"engram.workspace": str(workspace_id), **own})
        token = _current.set(workspace_id)
        try:
            yield
        finally:
            _current.reset(token)
        if (
            is_within_another
        ):  # the setting would outlive this block (for example in a test's transaction)
            set_database_variable("engram.workspace", "")


@dataclass(frozen=True, slots=True)
class _Joint:
    """A transaction opened by the first `in_workspace` block and shared by all later ones."""

    stack: ExitStack
    at_first: Callable[[], None]

    def open(self, workspace_id: UUID, options: Mapping[str, str]) -> None:
        self.stack.enter_context(_outermost(workspace_id, options))
        self.at_first()


@contextmanager
def in_one_transaction(at_first: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Run all `in_workspace` blocks within in one transaction: all commit, or none.

    It begins with the first of them, so that earlier work (embedding, and reads in
    `before_writing`) holds no connection and no lock; `at_first` is called as soon as it is open.
    Locks are held to the end, so the blocks together must keep the lock order. Nested, the blocks
    belong to the outer one, whose `at_first` is the one that is called.
    """
    if _joint.get() is not None:
        yield
        return
    with ExitStack() as stack:
        token = _joint.set(_Joint(stack, at_first))
        try:
            yield
        finally:
            _joint.reset(token)


@contextmanager
def without_rows() -> Iterator[None]:
    """Make scoped managers return empty querysets, for code that only inspects them."""
    token = _is_rowless.set(True)
    try:
        yield
    finally:
        _is_rowless.reset(token)


@contextmanager
def for_any_workspace() -> Iterator[None]:
    """Allow scoped managers to build querysets without a current workspace.

    For queries that `engram_due_workspaces` runs in each workspace in turn; run
    outside it they return no rows.
    """
    token = _is_for_any.set(True)
    try:
        yield
    finally:
        _is_for_any.reset(token)


class WorkspaceQuerySet(models.QuerySet[M]):
    """A queryset of the current workspace's rows; sets the workspace of new rows."""

    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        """Set the current workspace on rows without one, and insert them."""
        rows = list(objs)
        for row in rows:
            stamp(row)
        return super().bulk_create(rows, *args, **kwargs)


class WorkspaceManager(models.Manager[M]):
    """A manager of the current workspace's rows; raises when there is no current workspace."""

    _queryset_class = WorkspaceQuerySet

    def get_queryset(self) -> WorkspaceQuerySet[M]:
        """Return the current workspace's rows."""
        queryset: WorkspaceQuerySet[M] = self._queryset_class(self.model, using=self._db)
        if _is_rowless.get():
            return queryset.none()
        if _is_for_any.get():
            return queryset.filter(workspace_id=RawSQL(_CURRENT_SQL, []))  # noqa: S611  a constant
        return queryset.filter(workspace_id=current_workspace_id())


def stamp(row: Any) -> None:
    """Set the current workspace on a new row; raise for a row of another workspace."""
    if row.workspace_id is None:
        row.workspace_id = current_workspace_id()


class WorkspaceModel(models.Model):
    """The base of models whose rows belong to one workspace."""

    workspace = models.ForeignKey("kernel.Workspace", models.CASCADE, related_name="+")

    objects: ClassVar[WorkspaceManager[Self]] = WorkspaceManager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Set the current workspace if the row has none, and save."""
        stamp(self)
        super().save(*args, **kwargs)


def force_row_security(table: str, *, or_visible: str = "false") -> RunSQL:
    """Return the migration operation that confines `table` to the current workspace.

    `or_visible` is one further SQL condition under which a row may be read (never written).
    """
    own = f"workspace_id = {_CURRENT_SQL}"
    return RunSQL(
        sql=f"""
            ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
            ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
            CREATE POLICY own_workspace ON {table} USING ({own}) WITH CHECK ({own});
        """
        + (
            f"CREATE POLICY also_visible ON {table} FOR SELECT USING ({or_visible});"
            if or_visible != "false"
            else ""
        ),
        reverse_sql=f"""
            DROP POLICY IF EXISTS also_visible ON {table};
            DROP POLICY own_workspace ON {table};
            ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY;
            ALTER TABLE {table} DISABLE ROW LEVEL SECURITY;
        """,
    )
