"""Ask a worker for an action on all memories that match, and for taking it back.

The rows say which memories, as they were when they were counted; a task does the rest
(`change_run.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Count as CountOf
from django.db.models import QuerySet

from engram.console.memories.done import ACTIONS
from engram.console.models import ItemStatus, MemoryChange, MemoryChangeItem
from engram.kernel import job_queue
from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.filters import ALL
from engram.kernel.models import JobStatus, Workspace
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory

KIND: Final = "memory_change"
MOST: Final = 20_000  # memories of one change
ROWS_AT_ONCE: Final = 2_000
NOT_ENDED: Final = "It is still going on."


@dataclass(frozen=True, slots=True)
class Progress:
    """How many memories of a change came to which end, and how many wait."""

    done: int
    changed: int
    refused: int
    review: int
    waiting: int

    @property
    def share(self) -> float:
        """Return the share that is ended, in [0, 1]."""
        ended = self.done + self.changed + self.refused + self.review
        return ended / (ended + self.waiting) if ended + self.waiting else 1.0


@dataclass(frozen=True, slots=True)
class Question:
    """What a person was asked: about how many memories, when, and by which filters of the list."""

    id: UUID
    number: int
    at: datetime
    filters: str


def start(
    workspace: Workspace,
    action: str,
    tag: str,
    rows: QuerySet[Memory],
    question: Question,
    *,
    actor: Actor,
    now: datetime,
) -> MemoryChange | None:
    """Queue an action on memories; those changed since they were asked about are left and counted.

    `rows` are what the action would change. Return None, and queue nothing, if more of them match
    than the person was asked about. A question that was confirmed before gives its change.
    """
    mine = MemoryChange.objects.filter
    try:
        with in_workspace(workspace):
            if (known := mine(question=question.id).first()) is not None:
                return known
            at = question.at
            seen = rows.filter(updated_at__lte=at, created_at__lte=at).order_by("pk")
            pairs = list(seen.values_list("pk", "updated_at")[: question.number + 1])
            if len(pairs) > question.number:
                return None
            change = MemoryChange(
                action=action, tag=tag, filters=question.filters, asked_at=at,
                question=question.id, missed=question.number - len(pairs),
            )  # fmt: skip
            return _queue(change, pairs, actor=actor, now=now)
    except IntegrityError:  # it was confirmed twice at the same time
        with in_workspace(workspace):
            return mine(question=question.id).get()


def undo(workspace: Workspace, change_id: UUID, *, actor: Actor, now: datetime) -> MemoryChange:
    """Queue what reverts an ended change, for those that nobody changed since; once only."""
    with in_workspace(workspace):
        rows = MemoryChange.objects.select_related("job").filter(pk=change_id)
        change = rows.select_for_update(of=("self",)).first()
        if change is None:
            raise MissingError("There is no such change.")
        if (known := MemoryChange.objects.filter(undoes=change).first()) is not None:
            return known
        if change.job.due_at is not None:
            raise StaleError(NOT_ENDED, [change_id], cause=CHANGED_MEANWHILE)
        done = change.items.filter(status=ItemStatus.DONE).order_by("memory_id")
        pairs = done.values_list("memory_id", "seen_at")
        back = MemoryChange(
            action=ACTIONS[change.action][1], tag=change.tag, undoes=change,
            filters=f"state={ALL}", asked_at=change.job.finished_at or now,
        )  # fmt: skip
        return _queue(back, pairs, actor=actor, now=now)


def _queue(
    change: MemoryChange, pairs: Iterable[tuple[UUID, datetime]], *, actor: Actor, now: datetime
) -> MemoryChange:
    change.job = job_queue.enqueue(KIND, actor=actor, now=now)
    items = [MemoryChangeItem(change=change, memory_id=pk, seen_at=at) for pk, at in pairs]
    change.total = len(items)
    change.save(force_insert=True)
    MemoryChangeItem.objects.bulk_create(items, batch_size=ROWS_AT_ONCE)
    return change


def progress_of(change: MemoryChange) -> Progress:
    """Return how far a change is, by one query."""
    counted = change.items.order_by().values_list("status").annotate(n=CountOf("pk"))
    by_status = dict(counted)
    return Progress(*(by_status.get(status, 0) for status in (
        ItemStatus.DONE, ItemStatus.CHANGED, ItemStatus.REFUSED, ItemStatus.REVIEW,
        ItemStatus.WAITING,
    )))  # fmt: skip


def running() -> QuerySet[MemoryChange]:
    """Return the changes that are going on, oldest first; called inside the workspace."""
    rows = MemoryChange.objects.select_related("job").exclude(job__due_at=None)
    going = rows.filter(job__status__in=[JobStatus.QUEUED, JobStatus.RUNNING])
    return going.order_by("job__created_at", "pk")
