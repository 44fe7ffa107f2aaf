"""Do changes of many memories in the background, some at a time; safe to kill at any point."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from time import monotonic
from traceback import format_tb
from typing import Final
from uuid import UUID

from engram.console.memories.changes import KIND, progress_of
from engram.console.memories.changing import Result, affected, perform
from engram.console.models import ItemStatus, MemoryChange, MemoryChangeItem
from engram.kernel import job_queue
from engram.kernel.actors import Actor
from engram.kernel.job_queue import Clock
from engram.kernel.lease import TakenOverError
from engram.kernel.models import Job, Role, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory

log = logging.getLogger(__name__)

BATCH: Final = 25  # memories of one transaction, whose locks others wait for
NO_REVIEWER: Final = "Who asked for this is no reviewer any more."


class _ChangedMeanwhileError(Exception):
    """Memories were changed between the look at them and their lock: nothing was written."""

    def __init__(self, ids: Sequence[UUID]) -> None:
        self.ids = ids


def change_turn(workspace_id: UUID, *, clock: Clock, seconds: float) -> bool:
    """Go on with the change that has been due longest, for about `seconds`; return if it ended."""
    workspace = Workspace.objects.filter(pk=workspace_id).first()
    job = None if workspace is None else job_queue.acquire(workspace, KIND, clock())
    if workspace is None or job is None:
        return False
    try:
        with job_queue.working(job, clock):
            is_over = _work(workspace, job, clock=clock, until=monotonic() + seconds)
    except TakenOverError:
        return False
    except Exception as error:  # noqa: BLE001  whatever it was, the job stays due
        # Messages of exceptions may quote memories: the log has the places, the row the type.
        kind, places = type(error).__name__, "".join(format_tb(error.__traceback__))
        log.error("change %s failed: %s\n%s", job.id, kind, places)
        job_queue.put_off(job, kind, now=clock())
        return False
    job_queue.wake_workers(KIND, workspace.pk)  # others may wait
    return is_over


def _work(workspace: Workspace, job: Job, *, clock: Clock, until: float) -> bool:
    with in_workspace(workspace):
        actor = job_queue.requester_of(job, clock())
        change = MemoryChange.objects.get(pk=job.pk)
    if actor is None or not actor.role.includes(Role.REVIEWER):
        job_queue.fail(job, NO_REVIEWER, now=clock())
        return True
    while _do_some(workspace, job, change, actor, clock=clock):
        if monotonic() > until:
            job_queue.hand_over(job, now=clock())
            return False
    job_queue.finish(job, {}, now=clock())
    return True


def _do_some(
    workspace: Workspace, job: Job, change: MemoryChange, actor: Actor, *, clock: Clock
) -> bool:
    """Change the next memories and note it, in one transaction; return whether there were any."""
    passed: set[UUID] = set()
    while True:
        try:
            with in_workspace(workspace):
                waiting = change.items.filter(status=ItemStatus.WAITING).order_by("id")
                items = list(waiting[:BATCH])
                if not items:
                    return False
                _change(workspace, change, items, passed, actor, clock=clock)
                job_queue.note_progress(job, progress_of(change).share, now=clock())
                return True
        except _ChangedMeanwhileError as error:
            passed |= set(error.ids)


def _change(
    workspace: Workspace,
    change: MemoryChange,
    items: Sequence[MemoryChangeItem],
    passed: set[UUID],
    actor: Actor,
    *,
    clock: Clock,
) -> None:
    """Change the memories of items that are as they were when asked about; note what became."""
    seen = {item.memory_id: item.seen_at for item in items if item.memory_id not in passed}
    would = affected(Memory.objects.filter(pk__in=seen), change.action, change.tag)
    known = {row.pk: row for row in would if row.updated_at == seen[row.pk]}
    result = perform(workspace, change.action, known, change.tag, actor=actor, clock=clock)
    if change.action == "restore" and result.refused:
        result = _one_by_one(workspace, change, known, actor, clock=clock)
    after = {row.pk: row for row in Memory.objects.filter(pk__in=known)}
    if change.action in {"forget", "restore"}:
        moved = [pk for pk, row in after.items() if row.revision != known[pk].revision]
        if moved:
            raise _ChangedMeanwhileError(moved)
    for item in items:
        _note(item, result, after)
    MemoryChangeItem.objects.bulk_update(items, ["status", "reason", "seen_at"])
    _note_along(change, set(result.changed) - {item.memory_id for item in items})


def _one_by_one(
    workspace: Workspace,
    change: MemoryChange,
    known: Mapping[UUID, Memory],
    actor: Actor,
    *,
    clock: Clock,
) -> Result:
    """Bring back each by itself: one that may not come back holds up no other."""
    total = Result()
    for pk in known:
        one = perform(workspace, change.action, [pk], change.tag, actor=actor, clock=clock)
        total.changed += one.changed
        total.refused |= one.refused
        total.waiting += one.waiting
    return total


def _note_along(change: MemoryChange, along: set[UUID]) -> None:
    """Write down what was merged with a memory and went with it, so that undoing finds it, too."""
    if not along:
        return
    at = dict(Memory.objects.filter(pk__in=along).values_list("pk", "updated_at"))
    known = {item.memory_id: item for item in change.items.filter(memory_id__in=at)}
    new = [MemoryChangeItem(change=change, memory_id=pk) for pk in sorted(at) if pk not in known]
    for item in (*known.values(), *new):
        item.status, item.seen_at = ItemStatus.DONE, at[item.memory_id]
    MemoryChangeItem.objects.bulk_update(known.values(), ["status", "seen_at"])
    MemoryChangeItem.objects.bulk_create(new)


def _note(item: MemoryChangeItem, result: Result, after: Mapping[UUID, Memory]) -> None:
    """Write down what became of a memory; what nothing says anything of had changed meanwhile."""
    pk = item.memory_id
    if pk in result.refused:
        item.status, item.reason = ItemStatus.REFUSED, result.refused[pk][:200]
    elif pk in result.waiting:
        item.status = ItemStatus.REVIEW
    elif pk in result.changed and pk in after:
        item.status, item.seen_at = ItemStatus.DONE, after[pk].updated_at
    else:
        item.status = ItemStatus.CHANGED
