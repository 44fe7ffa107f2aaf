"""Hide memories from recall and restore them; nothing else writes lifecycle timestamps."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db.models import F

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.idempotency import forget_answers
from engram.kernel.jobs import wake
from engram.kernel.tenancy import current_workspace_id
from memories.models import Derivation, Memory, MemoryVector, Merge
from memories.services.index import note_links
from memories.services.index.entities import mark_due
from memories.services.index.search_index import EMBED_TASK
from memories.services.index.statement_hashes import wordings_of
from memories.services.locks import lock
from memories.services.review.ask import (
    flag_derived,
    lapse_claims,
    lapse_reviews,
    reviews_in_responses,
    unflag_derived,
)
from memories.signals import memories_hidden, memories_revived

Stamp = Literal["forgotten_at", "culled_at", "retired_at", "superseded_at"]
LIFECYCLE_FIELDS = ("forgotten_at", "culled_at", "retired_at", "superseded_at", "superseded_by_id")
_EVENT = {
    "forgotten_at": "memory.forgotten",
    "culled_at": "memory.culled",
    "retired_at": "memory.retired",
    "superseded_at": "memory.superseded",
}


def absorbed_ids(ids: Collection[UUID]) -> set[UUID]:
    """Return the memories absorbed into these by accepted merges, directly or indirectly."""
    return _along_merges(ids, of="memory", to="absorbed_id")


def survivor_ids(ids: Collection[UUID]) -> set[UUID]:
    """Return the memories that absorbed these by accepted merges, directly or indirectly."""
    return _along_merges(ids, of="absorbed", to="memory_id")


def merged_with(ids: Collection[UUID]) -> set[UUID]:
    """Return what is forgotten with memories: survivors of merges, and what these absorbed."""
    survivors = survivor_ids(ids)
    return survivors | (absorbed_ids({*ids, *survivors}) - set(ids))


def _along_merges(ids: Collection[UUID], *, of: str, to: str) -> set[UUID]:
    unsplit = Merge.objects.filter(split_at=None, absorbed__superseded_by=F("memory"))
    known = frontier = set(ids)
    while frontier:
        merges = unsplit.filter(**{f"{of}__in": frontier})
        frontier = set(merges.order_by().values_list(to, flat=True)) - known
        known = known | frontier
    return known - set(ids)


def lock_absorbed(memories: Iterable[Memory]) -> list[Memory]:
    """Lock and return the memories of `absorbed_ids`."""
    return lock(absorbed_ids([memory.id for memory in memories]))


def hide(
    memories: Iterable[Memory],
    stamp: Stamp,
    *,
    actor: Actor,
    now: datetime,
    successor: Memory | None = None,
    because: dict[str, Any] | None = None,
    since: datetime | None = None,
) -> list[Memory]:
    """Set the timestamp `stamp` of locked memories that lack it; return the newly hidden ones.

    `since` is the time that it gets, where they count as hidden since before `now`.

    Memories absorbed into a forgotten one by an accepted merge are forgotten with it, because the
    survivor contains their text. Counters and confidence do not change.
    """
    if stamp == "forgotten_at":
        memories = list(memories)
        memories += lock_absorbed(memories)
    stamped = [memory for memory in memories if getattr(memory, stamp) is None]
    for memory in stamped:
        setattr(memory, stamp, since or now)
        if stamp == "superseded_at":
            memory.superseded_by = successor
        memory.updated_at = now
        memory.save(update_fields=[stamp, "superseded_by", "updated_at"])
        detail = dict(because or {})
        if stamp == "forgotten_at":
            detail["role"] = str(actor.role)  # the role needed to restore it
        if successor is not None:
            detail["by"] = str(successor.id)
        record(_EVENT[stamp], of=("memory", memory.id), actor=actor, now=now, data=detail)
    if stamped:
        ids = [memory.id for memory in stamped]
        MemoryVector.objects.filter(memory__in=stamped).update(is_live=False)
        note_links.follow_lifecycle(ids, is_live=False)
        mark_due(ids)
        lapse_reviews(ids, now=now, with_flags=stamp == "forgotten_at")
        if stamp == "forgotten_at":
            statements = wordings_of(ids)
            forget_answers([*ids, *reviews_in_responses(statements)])
            lapse_claims(statements, now=now)
            flag_derived(ids, actor=actor, now=now)
        memories_hidden.send(Memory, memory_ids=ids, actor=actor, now=now)
    return stamped


def restore_fields(
    memory: Memory,
    before: dict[str, Any],
    *,
    actor: Actor,
    now: datetime,
    because: dict[str, Any] | None = None,
) -> list[Memory]:
    """Restore a locked memory's lifecycle fields to `before` (names from LIFECYCLE_FIELDS).

    Return the restored memories: this one and those forgotten with it.
    """
    forgotten_at = memory.forgotten_at
    _restore_fields(memory, before, actor=actor, now=now, because=because)
    back = [memory]
    if forgotten_at is not None and memory.forgotten_at is None:
        back += [one for one in lock_absorbed(back) if one.forgotten_at == forgotten_at]
    for absorbed in back[1:]:
        _restore_fields(absorbed, {"forgotten_at": None}, actor=actor, now=now, because=because)
    return back


def _restore_fields(
    memory: Memory,
    before: dict[str, Any],
    *,
    actor: Actor,
    now: datetime,
    because: dict[str, Any] | None,
) -> None:
    for name, value in before.items():
        setattr(memory, name, value)
    memory.updated_at = now
    memory.save(update_fields=[*(n.removesuffix("_id") for n in before), "updated_at"])
    if memory.is_embedding_due:
        wake(EMBED_TASK, current_workspace_id())
    MemoryVector.objects.filter(memory=memory).update(is_live=memory.is_live)
    note_links.follow_lifecycle([memory.id], is_live=memory.is_live)
    mark_due([memory.id])
    record(
        "memory.restored", of=("memory", memory.id), actor=actor, now=now, data=dict(because or {})
    )
    lapse_reviews([memory.id], now=now)
    if "forgotten_at" in before and memory.forgotten_at is None:
        unflag_derived([memory.id], actor=actor, now=now)
        sources = Derivation.objects.filter(derived=memory).exclude(source__forgotten_at=None)
        gone = sources.values_list("source_id", flat=True)
        flag_derived(gone, are_gone=True, actor=actor, now=now)
    memories_revived.send(Memory, memory_ids=[memory.id], actor=actor, now=now)
