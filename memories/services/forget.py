"""Forgetting by id and bringing back; a tombstone, never a deletion."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError

from engram.kernel.actors import Actor
from engram.kernel.models import Event, Role, Workspace
from engram.kernel.refusals import ForbiddenError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.lifecycle import hide, lock, put_back
from memories.services.statements import lock_statements


def refuse_strangers_will(memories: Collection[Memory], actor: Actor) -> None:
    """Refuse an agent that would bring back what a person made Engram forget."""
    if actor.role.includes(Role.REVIEWER):
        return
    for memory in memories:
        told = Event.objects.filter(object_id=str(memory.id), type="memory.forgotten")
        event = told.order_by("-seq").first()
        if event is not None and event.actor_kind == "user":
            raise ForbiddenError("A person forgot this; bringing it back needs a reviewer.")


def preview(workspace: Workspace, ids: Collection[UUID]) -> list[Memory]:
    """Return what `forget` would stamp, changing nothing."""
    with in_workspace(workspace):
        return list(Memory.objects.filter(pk__in=ids, forgotten_at=None))


def forget(
    workspace: Workspace, ids: Collection[UUID], *, actor: Actor, now: datetime
) -> list[Memory]:
    """Hide memories by their owner's will; return those newly forgotten (unknown ids are none)."""
    with in_workspace(workspace):
        return hide(lock(ids), "forgotten_at", actor=actor, now=now)


def restore(
    workspace: Workspace, ids: Collection[UUID], *, actor: Actor, now: datetime
) -> list[Memory]:
    """Undo `forget`; return what was brought back. Other reasons to be hidden stay in force."""
    try:
        with in_workspace(workspace):
            lock_statements(
                Memory.objects.filter(pk__in=ids).values_list("content_hash", flat=True)
            )
            restored = [memory for memory in lock(ids) if memory.forgotten_at is not None]
            refuse_strangers_will(restored, actor)
            for memory in restored:
                put_back(memory, {"forgotten_at": None}, actor=actor, now=now)
            return restored
    except IntegrityError:
        raise StaleError(
            "The same statement was committed again meanwhile; forget that one first."
        ) from None
