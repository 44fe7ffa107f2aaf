"""Asking a person: requests that trust keeps waiting, and summaries whose source is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.history import record
from memories.models import Derivation, Memory, Review, ReviewKind, ReviewStatus
from memories.services.trust import ReviewNeededError

# A chain of summaries is followed so far, so wide.
DERIVED_DEPTH = 8
DERIVED_MAX = 1000


def ask(
    needed: ReviewNeededError, fields: Mapping[str, Any], *, actor: Actor, now: datetime
) -> Review:
    """Keep what an agent asked for until a reviewer decides; the same asked again is one review.

    The memory is locked by the caller. `request` remembers what the memory was, so that the answer
    is never about something else.
    """
    request = {"fields": dict(fields), "seen": seen(needed.memory, now)}
    same = Review.objects.filter(
        memory=needed.memory,
        kind=needed.kind,
        status=ReviewStatus.PENDING,
        request=request,
        actor_kind=actor.kind,
        actor_id=actor.id,
    )
    if (review := same.first()) is not None:
        return review
    return _open(
        needed.kind, needed.memory.id, request, needed.reason, actor=actor, now=now,
        data={"kind": needed.kind},
    )  # fmt: skip


def seen(memory: Memory, now: datetime) -> dict[str, Any]:
    """Return what tells one state of a memory from another."""
    return {"revision": memory.revision, "state": str(memory.state(now))}


def _open(
    kind: str,
    memory_id: UUID,
    request: dict[str, Any],
    reason: str,
    *,
    actor: Actor,
    now: datetime,
    data: Mapping[str, Any],
) -> Review:
    review = Review.objects.create(
        kind=kind,
        memory_id=memory_id,
        request=request,
        reason=reason[:300],
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor_label=actor.label,
        key_id=actor.key_id,
        created_at=now,
    )
    told = {"review": str(review.id), **data}
    record("review.opened", of=("memory", memory_id), actor=actor, now=now, data=told)
    return review


def flag_derived(sources: Collection[UUID], *, actor: Actor, now: datetime) -> int:
    """Ask about each memory that summarises a gone one, however indirectly; return how many.

    One review a summary: a second source of it that goes joins the first.
    """
    flagged = 0
    for derived_id, gone in _derived_from(sources).items():
        waiting = _waiting_summaries([derived_id]).first()
        known = set(waiting.request["sources"]) if waiting else set()
        new = sorted(str(source) for source in gone if str(source) not in known)
        if not new:
            continue
        flagged += 1
        for source in new:
            record(
                "memory.source_forgotten",
                of=("memory", derived_id),
                actor=actor,
                now=now,
                data={"source": source},
            )
        if waiting is not None:
            waiting.request = {"sources": sorted(known | set(new))}
            waiting.save(update_fields=["request"])
            continue
        _open(
            ReviewKind.SOURCE_FORGOTTEN, derived_id, {"sources": new},
            "What this memory was derived from was forgotten.", actor=actor, now=now,
            data={"kind": str(ReviewKind.SOURCE_FORGOTTEN)},
        )  # fmt: skip
    return flagged


def _derived_from(sources: Collection[UUID]) -> dict[UUID, set[UUID]]:
    """Return the memories derived from the sources, not forgotten yet, with their sources."""
    found: dict[UUID, set[UUID]] = {}
    frontier: dict[UUID, set[UUID]] = {source: {source} for source in sources}
    for _ in range(DERIVED_DEPTH):
        rows = Derivation.objects.filter(source__in=list(frontier)).order_by("pk")
        wider: dict[UUID, set[UUID]] = {}
        for source_id, derived_id in rows.values_list("source_id", "derived_id"):
            if not frontier[source_id] <= found.get(derived_id, set()):
                wider.setdefault(derived_id, set()).update(frontier[source_id])
        for derived_id, gone in wider.items():
            if derived_id in found or len(found) < DERIVED_MAX:
                found.setdefault(derived_id, set()).update(gone)
        frontier = {i: gone for i, gone in wider.items() if i in found}
        if not frontier:
            break
    kept = Memory.objects.filter(pk__in=list(found), forgotten_at=None).exclude(pk__in=sources)
    return {i: found[i] for i in kept.order_by("created_at", "pk").values_list("pk", flat=True)}


def unflag_derived(sources: Collection[UUID], *, actor: Actor, now: datetime) -> None:
    """Ask no longer about summaries whose sources are back."""
    back = {str(source) for source in sources}
    for review in _waiting_summaries(_derived_from(sources)):
        left = [source for source in review.request["sources"] if source not in back]
        if left:
            review.request = {"sources": left}
            review.save(update_fields=["request"])
        else:
            close([review], ReviewStatus.LAPSED, actor=actor, now=now)


def _waiting_summaries(derived: Iterable[UUID]) -> Any:
    return Review.objects.filter(
        memory__in=list(derived),
        kind=ReviewKind.SOURCE_FORGOTTEN,
        status=ReviewStatus.PENDING,
    ).order_by("created_at", "pk")


def lapse_of(memory_ids: Collection[UUID], *, now: datetime, with_flags: bool = False) -> None:
    """Close the requests about memories that were hidden, brought back or changed.

    Whether a summary may stay (`with_flags`) is asked until the summary itself is forgotten.
    """
    waiting = Review.objects.filter(memory__in=list(memory_ids), status=ReviewStatus.PENDING)
    if not with_flags:
        waiting = waiting.exclude(kind=ReviewKind.SOURCE_FORGOTTEN)
    close(waiting.order_by("pk").select_for_update(), ReviewStatus.LAPSED, actor=SYSTEM, now=now)


def close(
    reviews: Iterable[Review],
    status: ReviewStatus,
    *,
    actor: Actor,
    now: datetime,
    note: str = "",
    result: Memory | None = None,
) -> None:
    """Write what became of reviews, and tell history."""
    for review in reviews:
        review.status = status
        review.decided_at = now
        review.decided_by = actor.label
        review.note = note
        review.result = result
        review.save(update_fields=["status", "decided_at", "decided_by", "note", "result"])
        about = {review.memory_id, *([result.id] if result else [])}
        for memory_id in sorted(about):
            record(
                f"review.{status}",
                of=("memory", memory_id),
                actor=actor,
                now=now,
                data={"review": str(review.id), "kind": review.kind},
            )
