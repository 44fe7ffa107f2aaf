"""Do one action to several memories, each by the service of its own page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.models import Workspace
from engram.kernel.refusals import RefusalError
from memories.models import Memory, MemoryTag, Review
from memories.services.lifecycle import forget
from memories.services.lifecycle.revise import revise


@dataclass(slots=True)
class Result:
    """What became of each memory: `changed`, `refused` with the reason, `stale` or `waiting`.

    `stale` were changed by others meanwhile; `waiting` wait for a reviewer. `changed` also has what
    was merged into a memory and went with it.
    """

    changed: list[UUID] = field(default_factory=list)
    refused: dict[UUID, str] = field(default_factory=dict)
    stale: list[UUID] = field(default_factory=list)
    waiting: list[UUID] = field(default_factory=list)


def affected(rows: QuerySet[Memory], action: str, tag: str) -> QuerySet[Memory]:
    """Keep those of the memories that the action would change."""
    if action == "restore":
        return rows.exclude(forgotten_at=None)
    rows = rows.filter(forgotten_at=None)
    if action in {"pin", "unpin"}:
        rows = rows.filter(is_pinned=action == "unpin")
    tagged = MemoryTag.objects.filter(tag=tag).values("memory")
    if action == "tag":
        rows = rows.exclude(pk__in=tagged)
    elif action == "untag":
        rows = rows.filter(pk__in=tagged)
    return rows


def perform(
    workspace: Workspace,
    action: str,
    ids: Collection[UUID],
    tag: str,
    *,
    actor: Actor,
    clock: Callable[[], datetime],
) -> Result:
    """Do the action to those of the memories that it would change."""
    if action == "forget":
        gone = forget.forget(workspace, ids, actor=actor, now=clock())
        return Result([one.pk for one in gone.memories], waiting=list(gone.pending))
    if action == "restore":
        return _restore(workspace, ids, actor=actor, now=clock())
    rows = list(affected(Memory.objects.filter(pk__in=ids), action, tag).order_by("pk"))
    return _revise_each(workspace, rows, _change_of(action, ids, tag), actor=actor, clock=clock)


def _restore(workspace: Workspace, ids: Collection[UUID], *, actor: Actor, now: datetime) -> Result:
    """Bring memories back; none, when one of them may not come back."""
    try:
        back = forget.restore(workspace, ids, actor=actor, now=now)
    except RefusalError as error:
        return Result(refused=dict.fromkeys(ids, error.detail))
    return Result([one.pk for one in back.memories], waiting=list(back.pending))


def _change_of(
    action: str, ids: Collection[UUID], tag: str
) -> Callable[[Memory], Mapping[str, object]]:
    """Return what gives the changes of an action that revises each memory."""
    if action in {"pin", "unpin"}:
        return lambda _: {"is_pinned": action == "pin"}
    known, new = _tags_of(ids), [tag] if action == "tag" else []
    return lambda row: {"tags": [*(one for one in known.get(row.pk, ()) if one != tag), *new]}


def _tags_of(ids: Collection[UUID]) -> dict[UUID, list[str]]:
    found: dict[UUID, list[str]] = {}
    rows = MemoryTag.objects.filter(memory__in=ids).order_by("tag")
    for memory_id, tag in rows.values_list("memory_id", "tag"):
        found.setdefault(memory_id, []).append(tag)
    return found


def _revise_each(
    workspace: Workspace,
    rows: Iterable[Memory],
    changes: Callable[[Memory], Mapping[str, object]],
    *,
    actor: Actor,
    clock: Callable[[], datetime],
) -> Result:
    """Give each memory a revision; one that is refused leaves the others as they are."""
    result = Result()
    for row in rows:
        try:
            done = revise(
                workspace, row.pk, changes(row), revision=row.revision, actor=actor, now=clock()
            )
        except RefusalError as error:
            if error.cause == CHANGED_MEANWHILE:
                result.stale.append(row.pk)
            else:
                result.refused[row.pk] = error.detail
            continue
        if isinstance(done, Review):
            result.waiting.append(row.pk)
        else:
            result.changed.append(row.pk)
    return result
