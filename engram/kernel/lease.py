"""Leases: exclusive work by one holder at a time, and since when work is due.

A lease is columns of a row: of the work itself, or of a registry with one row a workspace. It is
acquired, renewed and released by one statement each, so that no lock is held while the work goes
on; the caller passes the time and a unique holder id.

A holder without a heartbeat for longer than `silence` counts as dead. A heartbeat that is further
ahead than that was written before the clock was set back, and is ignored: otherwise nobody could
take over until the clock has caught up. A holder whose lease was taken over notices it when it
renews, and must write nothing more.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar
from uuid import UUID

import psycopg
from django.db import Error, connections, models
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Least
from psycopg_pool import PoolTimeout

log = logging.getLogger(__name__)

RENEW_SECONDS = 5.0

Renewal = Callable[[], object]


class TakenOverError(Exception):
    """Another holder has the lease by now, or nobody: what was computed must not be written."""


class Lease(models.Model):
    """The columns of a lease.

    `due_at` is null where nothing is due. Work may be planned `planned_ahead` at most: what is
    planned for later than that was planned before the clock was set back, and is due now.
    """

    silence: ClassVar[timedelta] = timedelta(seconds=60)
    planned_ahead: ClassVar[timedelta] = timedelta(0)

    due_at = models.DateTimeField(null=True)
    holder = models.UUIDField(null=True)
    heartbeat_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def is_held(self, now: datetime) -> bool:
        """Return whether a living holder has the lease."""
        return self.living_holder(now) is not None

    def living_holder(self, now: datetime) -> UUID | None:
        """Return the holder of the lease, None without one or when its heartbeat is too old."""
        first, last = time_around(now, self.silence)
        is_alive = self.heartbeat_at is not None and first <= self.heartbeat_at <= last
        return self.holder if is_alive else None


class WorkspaceLease(Lease):
    """A kind of work that one worker at a time does in a workspace.

    A registry like `Workspace`: it has no text and no row-level security, so
    that one query finds the workspaces where the work is due, in the order of waiting.
    """

    workspace = models.OneToOneField(
        "kernel.Workspace", models.CASCADE, primary_key=True, related_name="+"
    )

    class Meta:
        abstract = True
        indexes = [
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="%(class)s_due")
        ]

    def __str__(self) -> str:
        return f"{self.workspace_id} by {self.holder}"


L = TypeVar("L", bound=Lease)
W = TypeVar("W", bound=WorkspaceLease)


def lease_of(model: type[W], workspace_id: UUID) -> QuerySet[W]:
    """Return the lease of a workspace, made when it is missing."""
    rows: QuerySet[W] = model._default_manager.filter(workspace_id=workspace_id)
    if not rows.exists():
        model._default_manager.bulk_create(
            [model(workspace_id=workspace_id)], ignore_conflicts=True
        )
    return rows


def acquire(lease: QuerySet[L], holder: UUID, now: datetime) -> bool:
    """Acquire the lease unless a living holder has it; return whether it was acquired."""
    return bool(lease.filter(~match_held(lease, now)).update(holder=holder, heartbeat_at=now))


def renew(lease: QuerySet[L], holder: UUID, now: datetime) -> bool:
    """Write a heartbeat; False when the lease was taken over."""
    return bool(lease.filter(holder=holder).update(heartbeat_at=now))


def renew_or_raise(lease: QuerySet[L], holder: UUID, now: datetime) -> None:
    """Write a heartbeat; raise `TakenOverError` when the lease was taken over."""
    if not renew(lease, holder, now):
        raise TakenOverError


def release(lease: QuerySet[L], holder: UUID, **changes: Any) -> bool:
    """Release the lease, with other changes of its row; False when it was taken over."""
    freed = {"holder": None, "heartbeat_at": None, **changes}
    return bool(lease.filter(holder=holder).update(**freed))


def revoke(lease: QuerySet[L], **changes: Any) -> bool:
    """Release the lease whoever holds it, with other changes of its row; that holder may not write.

    For callers who hold a lock that every holder acquires before it writes its result.
    """
    return bool(lease.update(holder=None, heartbeat_at=None, **changes))


def note_due(lease: QuerySet[L], now: datetime) -> None:
    """Record, in the caller's transaction, that work has been due since `now` at least."""
    lease.update(due_at=Least(Coalesce("due_at", Value(now)), Value(now)))


def stalled(leases: QuerySet[L], now: datetime) -> QuerySet[L]:
    """Return the leases whose work is due and that no living holder has, longest waiting first."""
    is_due = Q(due_at__lte=now) | Q(due_at__gt=now + leases.model.planned_ahead)
    return leases.filter(is_due, ~match_held(leases, now)).order_by(F("due_at"), "pk")


def match_held(leases: QuerySet[L], now: datetime) -> Q:
    """Match the leases that a living holder has."""
    return Q(holder__isnull=False, heartbeat_at__range=time_around(now, leases.model.silence))


def time_around(now: datetime, span: timedelta) -> tuple[datetime, datetime]:
    """Return the range of times at most `span` from now, for a lookup by `__range`.

    What lies ahead of it was written before the clock was set back.
    """
    return now - span, now + span


@contextmanager
def renewing(renewal: Renewal) -> Iterator[None]:
    """Call `renewal` every few seconds while the block runs, however long one of its steps takes.

    It is called in a thread with a separate connection, outside the workspace and the transaction
    of the block, until it raises `TakenOverError`. Its result is ignored: the block must renew by
    itself to notice a takeover.
    """
    ended = threading.Event()
    thread = threading.Thread(target=_renew_until, args=(ended, renewal), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=RENEW_SECONDS)


def _renew_until(ended: threading.Event, renewal: Renewal) -> None:
    while not ended.wait(RENEW_SECONDS):
        try:
            try:
                renewal()
            finally:
                connections.close_all()  # this thread's alone; the pool has it back
        except TakenOverError:
            return
        except (Error, psycopg.Error, PoolTimeout) as error:  # the next one may reach it
            log.warning("a lease was not renewed: %s", type(error).__name__)
