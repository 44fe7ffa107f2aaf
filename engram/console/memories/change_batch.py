"""Change some memories of a change in one transaction, and note what became of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from engram.console.memories.changing import Result, affected, perform
from engram.console.memories.matching import matching_still
from engram.console.models import ItemStatus, MemoryChange, MemoryChangeItem
from engram.kernel.actors import Actor
from engram.kernel.job_queue import Clock
from engram.kernel.models import Workspace
from memories.models import Memory
from memories.services.index.statement_hashes import lock_statements
from memories.services.lifecycle.states import absorbed_ids, merged_with
from memories.services.locks import lock


def change_batch(
    workspace: Workspace,
    change: MemoryChange,
    items: Sequence[MemoryChangeItem],
    actor: Actor,
    *,
    clock: Clock,
) -> None:
    """Change the memories of items that are as they were when asked about; note what became."""
    seen = {item.memory_id: item.seen_at for item in items}
    as_seen = _locked_as_seen(change, seen)
    still = matching_still(change, actor.role).filter(pk__in=as_seen)
    would = affected(still, change.action, change.tag)
    known = list(would.order_by("pk").values_list("pk", flat=True))
    result = perform(workspace, change.action, known, change.tag, actor=actor, clock=clock)
    if change.action == "restore" and result.refused:
        result = _one_by_one(workspace, change, known, actor, clock=clock)
    after = dict(Memory.objects.filter(pk__in=result.changed).values_list("pk", "updated_at"))
    for item in items:
        _note(item, result, after)
    MemoryChangeItem.objects.bulk_update(items, ["status", "reason", "seen_at"])
    _note_along(change, {pk: at for pk, at in after.items() if pk not in seen})


def _locked_as_seen(change: MemoryChange, seen: Mapping[UUID, datetime]) -> set[UUID]:
    """Lock memories, with those that are forgotten with them; return those that are as seen.

    What others change later waits for the end of the transaction. What was merged into a memory
    that somebody changed is not as seen: forgetting it would forget that one.
    """
    if change.action == "restore":  # statements are locked before any row
        hashes = Memory.objects.filter(pk__in=seen).values_list("content_hash", flat=True)
        lock_statements(hashes)
    along = merged_with(seen) if change.action == "forget" else set()
    rows = lock({*seen, *along})
    as_seen = {row.pk for row in rows if row.updated_at == seen.get(row.pk)}
    changed = [
        row.pk
        for row in rows
        if row.pk not in as_seen and row.forgotten_at is None and row.updated_at > change.asked_at
    ]
    if change.action != "forget" or not changed:
        return as_seen
    return as_seen - absorbed_ids(changed)


def _one_by_one(
    workspace: Workspace,
    change: MemoryChange,
    known: Collection[UUID],
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


def _note_along(change: MemoryChange, along: Mapping[UUID, datetime]) -> None:
    """Write down what was merged with a memory and went with it, so that undoing finds it, too."""
    if not along:
        return
    known = {item.memory_id: item for item in change.items.filter(memory_id__in=along)}
    new = [MemoryChangeItem(change=change, memory_id=pk) for pk in sorted(along.keys() - known)]
    for item in (*known.values(), *new):
        item.status, item.seen_at = ItemStatus.DONE, along[item.memory_id]
    MemoryChangeItem.objects.bulk_update(known.values(), ["status", "seen_at"])
    MemoryChangeItem.objects.bulk_create(new)


def _note(item: MemoryChangeItem, result: Result, after: Mapping[UUID, datetime]) -> None:
    """Write down what became of a memory; what nothing says anything of had changed meanwhile."""
    pk = item.memory_id
    if pk in result.refused:
        item.status, item.reason = ItemStatus.REFUSED, result.refused[pk][:200]
    elif pk in result.waiting:
        item.status = ItemStatus.REVIEW
    elif pk in after:
        item.status, item.seen_at = ItemStatus.DONE, after[pk]
    else:
        item.status = ItemStatus.CHANGED
