"""Undo actions of the janitor: restore the exact former values, or refuse."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.db.models import QuerySet

from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE, NOTHING_TO_UNDO
from engram.kernel.history import record, record_unsent
from engram.kernel.models import Workspace
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import JanitorAction, JanitorRun, Memory
from memories.services.causes import SAME_STATEMENT
from memories.services.janitor.run import fields_of
from memories.services.lifecycle.states import restore_fields
from memories.services.locks import lock

CHUNK = 500
NAMED_MAX = 100
COMMITTED_AGAIN = "A statement that would come back was committed again meanwhile."


def undo_run(workspace: Workspace, run_id: UUID, *, actor: Actor, now: datetime) -> JanitorRun:
    """Undo all actions of a run that are not undone yet, in one transaction.

    Raise `StaleError` if any of the memories has changed since.
    """
    try:
        with in_workspace(workspace):
            return _undo_run(run_id, actor=actor, now=now)
    except IntegrityError:
        raise StaleError(COMMITTED_AGAIN, cause=SAME_STATEMENT) from None


def undo_action(
    workspace: Workspace, action_id: UUID, *, actor: Actor, now: datetime
) -> JanitorAction:
    """Undo one action of a run; raise `StaleError` if its memory has changed since."""
    try:
        with in_workspace(workspace):
            found = JanitorAction.objects.filter(pk=action_id)
            if not _lock_all(found):
                raise MissingError("There is no such action.")
            if not _undo(found.filter(undone_at=None), actor=actor, now=now):
                raise StaleError("This was undone already.", cause=NOTHING_TO_UNDO)
            return found.get()
    except IntegrityError:
        raise StaleError(COMMITTED_AGAIN, cause=SAME_STATEMENT) from None


def _undo_run(run_id: UUID, *, actor: Actor, now: datetime) -> JanitorRun:
    if not JanitorRun.objects.filter(pk=run_id).exists():
        raise MissingError("There is no such run.")
    # Memories are locked before their actions, as everywhere.
    left = JanitorAction.objects.filter(run=run_id, undone_at=None)
    ids = _lock_all(left)
    run = JanitorRun.objects.select_for_update().get(pk=run_id)
    if run.undone_at is not None:
        raise StaleError("This run was undone already.", cause=NOTHING_TO_UNDO)
    undone = 0
    for chunk in _chunks(ids):
        undone += _undo(left.filter(memory__in=chunk), actor=actor, now=now)
    if not undone:
        raise StaleError("This run left nothing that could be undone.", cause=NOTHING_TO_UNDO)
    run.undone_at = now
    run.save(update_fields=["undone_at"])
    record(
        "janitor.undone", of=("janitor_run", run.id), actor=actor, now=now, data={"undone": undone}
    )
    return run


def _lock_all(actions: QuerySet[JanitorAction]) -> list[UUID]:
    """Lock the memories of actions in the order of their ids; return the ids."""
    ids = sorted(actions.order_by().values_list("memory_id", flat=True))
    for chunk in _chunks(ids):
        locked = Memory.objects.filter(pk__in=chunk).order_by("pk").select_for_update(no_key=True)
        list(locked.values_list("pk"))
    return ids


def _chunks(ids: list[UUID]) -> Iterator[list[UUID]]:
    for start in range(0, len(ids), CHUNK):
        yield ids[start : start + CHUNK]


def _undo(actions: QuerySet[JanitorAction], *, actor: Actor, now: datetime) -> int:
    """Restore the memories of actions that are not undone; return their number."""
    rows = list(actions.select_for_update().order_by("memory_id"))
    memories = {memory.id: memory for memory in lock([row.memory_id for row in rows])}
    changed = [r.memory_id for r in rows if fields_of(memories[r.memory_id]) != r.after]
    if changed:
        raise StaleError(
            "Memories have changed since.", changed[:NAMED_MAX], cause=CHANGED_MEANWHILE
        )
    alike: defaultdict[tuple[Any, ...], list[UUID]] = defaultdict(list)
    for row in rows:
        values = _values(row.before)
        culled = {"culled_at": values.pop("culled_at")}
        if row.verb == JanitorAction.Verb.CULL:
            because = {"run": str(row.run_id), "undo": True}
            restore_fields(memories[row.memory_id], culled, actor=actor, now=now, because=because)
        else:
            alike[tuple(values.items())].append(row.memory_id)
    for items, ids in alike.items():
        Memory.objects.filter(pk__in=ids).update(**dict(items))
    record_unsent(
        "memory.demotion_undone",
        ((r.memory_id, {"run": str(r.run_id)}) for r in rows if r.verb != "cull"),
        of="memory",
        actor=actor,
        now=now,
    )
    return JanitorAction.objects.filter(pk__in=[row.pk for row in rows]).update(undone_at=now)


def _values(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the stored JSON fields converted to the types of the model."""
    return {
        name: datetime.fromisoformat(value) if name.endswith("_at") and value else value
        for name, value in stored.items()
    }
