"""Delete a workspace: close it at once, then delete its rows in batches; safe to kill at any point.

1. `close_workspace` closes it in one transaction with the `WorkspaceDeletion`, which is due from
   then on: nobody can enter, sweeps pass over it, and its slug is free for another one.
2. `delete_turn` deletes batch after batch, each with its count in one transaction. A worker that
   dies loses its lease, and the sweep wakes another, which goes on with the rows that are left.
3. The last transaction locks the workspace, so that late writers wait and then fail, deletes what
   they left, verifies by the database's catalog that no row is left, and deletes the workspace.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from traceback import format_tb
from typing import Any, Final
from uuid import UUID, uuid4

from django.db.models import F, QuerySet

from engram.kernel import lease
from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.jobs import wake
from engram.kernel.lease import TakenOverError, renewing
from engram.kernel.models import ApiKey, Workspace
from engram.kernel.refusals import InvalidError
from engram.kernel.tenancy import in_workspace
from engram.kernel.workspace_deletions import WorkspaceDeletion
from engram.kernel.workspace_rows import (
    Table,
    count_rows,
    delete_rows,
    tables_left,
    unlink_rows,
    workspace_tables,
)

log = logging.getLogger(__name__)

TASK: Final = "kernel.delete_workspace"
BATCH_ROWS: Final = 2_000
FIRST_PAUSE: Final = timedelta(seconds=2)
LONGEST_PAUSE: Final = timedelta(minutes=15)

Clock = Callable[[], datetime]
Step = Callable[[], int]


class RowsLeftError(Exception):
    """Tables that no model names hold rows of the workspace."""


def close_workspace(
    workspace: Workspace, typed_slug: str, *, actor: Actor, now: datetime
) -> WorkspaceDeletion:
    """Close a workspace for good, and begin to delete it.

    A workspace that is closed already keeps its deletion, which is returned. Raise `InvalidError`
    unless `typed_slug` is exactly the workspace's slug.
    """
    with in_workspace(workspace):
        row = Workspace.with_closed.select_for_update(no_key=True).get(pk=workspace.pk)
        if row.closed_at is not None:
            return select_due().get(target=row.pk)
        if typed_slug != row.slug:
            raise InvalidError("slug", "This is not the slug of the workspace; type it exactly.")
        deletion = WorkspaceDeletion.objects.create(
            target=row.pk, caller=actor.caller, requested_at=now, due_at=now
        )
        record("workspace.closed", of=("workspace", row.pk), actor=actor, now=now)
        row.closed_at, row.slug = now, f"closed-{deletion.pk.hex}"
        row.save(update_fields=["closed_at", "slug"])
        wake(TASK, deletion.pk)
    workspace.closed_at, workspace.slug = row.closed_at, row.slug
    return deletion


def deletion_of(workspace: Workspace) -> WorkspaceDeletion | None:
    """Return the deletion of a closed workspace; None of a living one.

    One that came back from an archive lives, although an earlier deletion of its id has ended.
    """
    if workspace.closed_at is None:
        return None
    rows = WorkspaceDeletion.objects.filter(target=workspace.pk)
    return rows.order_by("due_at", "-requested_at").first()  # one that has not ended comes first


def select_due() -> QuerySet[WorkspaceDeletion]:
    """Return the deletions that have not ended."""
    return WorkspaceDeletion.objects.exclude(due_at=None)


def wake_stalled(now: datetime) -> None:
    """Wake a worker for each deletion that is due and that nobody does."""
    for deletion in lease.stalled(select_due(), now):
        wake(TASK, deletion.pk)


def delete_turn(deletion_id: UUID, *, clock: Clock, seconds: float) -> bool:
    """Go on with a deletion for about `seconds`; return whether it has ended.

    Does nothing while another worker does it. What was not done in time is due at once.
    """
    mine, holder = WorkspaceDeletion.objects.filter(pk=deletion_id), uuid4()
    if not lease.acquire(mine.exclude(due_at=None), holder, clock()):
        return mine.filter(due_at=None).exists()
    deletion = mine.get()
    worker = _Worker(deletion, holder, clock, until=monotonic() + seconds)
    try:
        with renewing(lambda: lease.renew_or_raise(mine, holder, clock())):
            has_ended = worker.work()
    except TakenOverError:
        return False
    except Exception as error:  # noqa: BLE001  whatever it was, the deletion stays due
        # Messages of exceptions may quote rows: the log has the places, the row the type.
        places = "".join(format_tb(error.__traceback__))
        log.error("deletion %s failed: %s\n%s", deletion_id, type(error).__name__, places)
        _put_off(deletion, holder, error, now=clock())
        return False
    if not has_ended:
        lease.release(mine, holder, due_at=clock())
        wake(TASK, deletion_id)
    return has_ended


def _put_off(deletion: WorkspaceDeletion, holder: UUID, error: Exception, *, now: datetime) -> None:
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(deletion.failures, 10))
    told = str(error) if isinstance(error, RowsLeftError) else type(error).__name__
    lease.release(
        WorkspaceDeletion.objects.filter(pk=deletion.pk),
        holder,
        due_at=now + pause,
        failures=F("failures") + 1,
        error=told[:300],
    )


class _Worker:
    """One turn at a deletion; every write checks that the lease is still held."""

    def __init__(
        self, deletion: WorkspaceDeletion, holder: UUID, clock: Clock, *, until: float
    ) -> None:
        self.workspace_id = deletion.target
        self.is_counted = deletion.rows_total is not None
        self._mine = WorkspaceDeletion.objects.filter(pk=deletion.pk, holder=holder)
        self._clock = clock
        self._until = until

    def work(self) -> bool:
        """Delete until nothing is left or the time is over; return whether nothing is left."""
        if not self.is_counted:
            with in_workspace(self.workspace_id):
                total = sum(count_rows(self.workspace_id).values())
                self._write(rows_total=total, started_at=self._clock())
        for model in workspace_tables():
            if model is ApiKey:  # so that its callers are told until the end what happens
                continue
            for step in (unlink_rows, delete_rows):
                if not self._empty(model, step):
                    return False
        self._remove_workspace()
        return True

    def _empty(self, model: Table, step: Callable[..., int]) -> bool:
        """Repeat a step until it finds no more rows; False when the time is over before."""
        batch = partial(step, model, self.workspace_id, most=BATCH_ROWS)
        while True:
            with in_workspace(self.workspace_id):
                count = batch()
                if count:
                    deleted = count if step is delete_rows else 0
                    # What has failed before goes on.
                    self._write(rows_deleted=F("rows_deleted") + deleted, error="", failures=0)
            if count < BATCH_ROWS:
                return True
            if monotonic() >= self._until:
                return False

    def _remove_workspace(self) -> None:
        """Delete what late writers left, verify that nothing is left, and delete the workspace."""
        now = self._clock()
        with in_workspace(self.workspace_id):
            row = Workspace.with_closed.filter(pk=self.workspace_id)
            list(row.select_for_update().values_list("pk"))
            late = 0
            for model in workspace_tables():
                unlink_rows(model, self.workspace_id)
                late += delete_rows(model, self.workspace_id)
            if left := tables_left(self.workspace_id):
                raise RowsLeftError(f"Rows are left in {', '.join(left)}.")
            row._raw_delete(row.db)
            self._write(
                rows_deleted=F("rows_deleted") + late,
                finished_at=now,
                due_at=None,
                holder=None,
                heartbeat_at=None,
                failures=0,
                error="",
            )

    def _write(self, **changes: Any) -> None:
        """Change the deletion with a heartbeat; raise `TakenOverError` when the lease is lost."""
        if not self._mine.update(**{"heartbeat_at": self._clock(), **changes}):
            raise TakenOverError
