"""Hiding memories from recall and bringing them back: the one writer of lifecycle stamps."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.idempotency import forget_answers
from memories.models import Derivation, Memory, MemoryVector
from memories.services.review import flag_derived, lapse_of, unflag_derived
from memories.signals import memories_hidden, memories_revived

Stamp = Literal["forgotten_at", "culled_at", "retired_at", "superseded_at"]
LIFECYCLE_FIELDS = ("forgotten_at", "culled_at", "retired_at", "superseded_at", "superseded_by_id")
_EVENT = {
    "forgotten_at": "memory.forgotten",
    "culled_at": "memory.culled",
    "retired_at": "memory.retired",
    "superseded_at": "memory.superseded",
}


def lock(ids: Collection[UUID]) -> list[Memory]:
    """Lock memories in the order of their ids, so that two transactions cannot deadlock."""
    return list(Memory.objects.filter(pk__in=ids).order_by("pk").select_for_update(no_key=True))


def hide(
    memories: Iterable[Memory],
    stamp: Stamp,
    *,
    actor: Actor,
    now: datetime,
    successor: Memory | None = None,
    because: dict[str, Any] | None = None,
) -> list[Memory]:
    """Stamp locked memories that do not carry the stamp yet; return those newly stamped.

    Touches neither counters nor confidence.
    """
    stamped = [memory for memory in memories if getattr(memory, stamp) is None]
    for memory in stamped:
        setattr(memory, stamp, now)
        if stamp == "superseded_at":
            memory.superseded_by = successor
        memory.updated_at = now
        memory.save(update_fields=[stamp, "superseded_by", "updated_at"])
        detail = dict(because or {})
        if successor is not None:
            detail["by"] = str(successor.id)
        record(_EVENT[stamp], of=("memory", memory.id), actor=actor, now=now, data=detail)
    if stamped:
        MemoryVector.objects.filter(memory__in=stamped).update(is_live=False)
    if stamped:
        ids = [memory.id for memory in stamped]
        lapse_of(ids, now=now, with_flags=stamp == "forgotten_at")
        if stamp == "forgotten_at":
            forget_answers(ids)
            flag_derived(ids, actor=actor, now=now)
        memories_hidden.send(Memory, memory_ids=ids, now=now)
    return stamped


def put_back(
    memory: Memory,
    before: dict[str, Any],
    *,
    actor: Actor,
    now: datetime,
    because: dict[str, Any] | None = None,
) -> None:
    """Return a locked memory's lifecycle fields to `before` (names from LIFECYCLE_FIELDS)."""
    for name, value in before.items():
        setattr(memory, name, value)
    memory.updated_at = now
    memory.save(update_fields=[*(n.removesuffix("_id") for n in before), "updated_at"])
    is_live = all(getattr(memory, name) is None for name in _EVENT)
    MemoryVector.objects.filter(memory=memory).update(is_live=is_live)
    record(
        "memory.restored", of=("memory", memory.id), actor=actor, now=now, data=dict(because or {})
    )
    lapse_of([memory.id], now=now)
    if "forgotten_at" in before and memory.forgotten_at is None:
        unflag_derived([memory.id], actor=actor, now=now)
        gone = Derivation.objects.filter(derived=memory).exclude(source__forgotten_at=None)
        flag_derived(gone.values_list("source_id", flat=True), actor=actor, now=now)
    memories_revived.send(Memory, memory_ids=[memory.id], now=now)
