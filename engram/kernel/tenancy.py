"""The current workspace, enforced twice: scoped managers here, row-level security below.

`in_workspace(workspace)` opens a short transaction and tells PostgreSQL which workspace it
serves (`set_config(..., is_local => true)`, so that a pooled connection never remembers it and
PgBouncer in transaction mode works). Outside of it a scoped manager raises
`WorkspaceNotSetError` and the policies of the database show no rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, TypeVar
from uuid import UUID

from django.db import connection, models, transaction
from django.db.migrations.operations import RunSQL
from django.db.models.expressions import RawSQL

M = TypeVar("M", bound=models.Model)
_current: ContextVar[UUID | None] = ContextVar("engram_workspace", default=None)
_is_rowless: ContextVar[bool] = ContextVar("engram_rowless", default=False)
_is_for_any: ContextVar[bool] = ContextVar("engram_for_any", default=False)
_joint: ContextVar[_Joint | None] = ContextVar("engram_joint", default=None)


class Tenant(Protocol):
    """What is needed of a workspace here; the model stands on this module."""

    @property
    def pk(self) -> UUID: ...


# The sub-select makes the setting a constant of the plan: without it an exact vector scan of
# 100,000 rows would read and cast it once a row.
_CURRENT_SQL = "(SELECT nullif(current_setting('engram.workspace', true), '')::uuid)"


class WorkspaceNotSetError(RuntimeError):
    """A query of a workspace's rows ran outside `in_workspace`."""


def current_workspace_id() -> UUID:
    """Return the id of the workspace being served."""
    workspace_id = _current.get()
    if workspace_id is None:
        raise WorkspaceNotSetError("this query needs `with in_workspace(...)` around it")
    return workspace_id


def has_workspace() -> bool:
    """Tell whether a workspace is being served."""
    return _current.get() is not None


def set_database_variable(name: str, value: str) -> None:
    """Set a transaction-local setting that the policies read."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, %s, true)", [name, value])


def release_connection() -> None:
    """Return this thread's connection to the pool before a long wait; the next query takes another.

    Within a transaction it stays.
    """
    if not connection.in_atomic_block:
        connection.close()


@contextmanager
def in_workspace(workspace: Tenant | UUID) -> Iterator[None]:
    """Serve one workspace within one transaction; nested in the same workspace, a savepoint."""
    workspace_id = workspace if isinstance(workspace, UUID) else workspace.pk
    if _current.get() is None and (joint := _joint.get()) is not None:
        joint.open(workspace_id)
    with _serving(workspace_id):
        yield


@contextmanager
def before_writing(workspace: Tenant | UUID) -> Iterator[None]:
    """Serve one workspace as `in_workspace` does, but begin no joint transaction.

    For what a write reads before it embeds; whatever it relies on it reads again under its locks.
    """
    with _serving(workspace if isinstance(workspace, UUID) else workspace.pk):
        yield


@contextmanager
def _serving(workspace_id: UUID) -> Iterator[None]:
    """Open a transaction, or a savepoint within the one that serves this workspace already."""
    outer = _current.get()
    if outer is None:
        with _outermost(workspace_id):
            yield
        return
    if outer != workspace_id:
        raise RuntimeError("a transaction serves one workspace")
    with transaction.atomic():
        yield


@contextmanager
def _outermost(workspace_id: UUID) -> Iterator[None]:
    """Open the transaction and tell the database whom it serves."""
    is_within_another = connection.in_atomic_block
    with transaction.atomic():
        set_database_variable("engram.workspace", str(workspace_id))
        token = _current.set(workspace_id)
        try:
            yield
        finally:
            _current.reset(token)
        if is_within_another:  # the setting would outlive this block (a test's transaction, say)
            set_database_variable("engram.workspace", "")


@dataclass(frozen=True, slots=True)
class _Joint:
    """A transaction that the first `in_workspace` within opens, and all others share."""

    stack: ExitStack
    at_first: Callable[[], None]

    def open(self, workspace_id: UUID) -> None:
        self.stack.enter_context(_outermost(workspace_id))
        self.at_first()


@contextmanager
def in_one_transaction(at_first: Callable[[], None]) -> Iterator[None]:
    """Make one transaction of all `in_workspace` blocks within: all of them last, or none.

    It begins with the first of them, so that what comes before (embedding, above all, and what is
    read in `before_writing`) holds no connection and no lock; `at_first` is called as soon as it
    is open. Whatever is locked stays locked to the end: no block within may lock in another order
    than one transaction would.
    """
    with ExitStack() as stack:
        token = _joint.set(_Joint(stack, at_first))
        try:
            yield
        finally:
            _joint.reset(token)


@contextmanager
def without_rows() -> Iterator[None]:
    """Let scoped managers answer with empty querysets, for code that only looks at their shape."""
    token = _is_rowless.set(True)
    try:
        yield
    finally:
        _is_rowless.reset(token)


@contextmanager
def for_any_workspace() -> Iterator[None]:
    """Let scoped managers build querysets of whichever workspace the database serves.

    For questions that `engram_due_workspaces` asks in one workspace after the other; asked
    outside of it they find nothing.
    """
    token = _is_for_any.set(True)
    try:
        yield
    finally:
        _is_for_any.reset(token)


class WorkspaceQuerySet(models.QuerySet[M]):
    """Rows of the current workspace; writes are stamped with it."""

    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        """Stamp rows that name no workspace with the current one."""
        rows = list(objs)
        for row in rows:
            stamp(row)
        return super().bulk_create(rows, *args, **kwargs)


class WorkspaceManager(models.Manager[M]):
    """Sees the current workspace only, and refuses to answer when there is none."""

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
    """Give a new row the current workspace; a row of another one never gets written."""
    if row.workspace_id is None:
        row.workspace_id = current_workspace_id()


class WorkspaceModel(models.Model):
    """A table whose every row belongs to one workspace."""

    workspace = models.ForeignKey("kernel.Workspace", models.CASCADE, related_name="+")

    objects: ClassVar[WorkspaceManager[Self]] = WorkspaceManager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Stamp the row with the current workspace when it names none."""
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
