"""Asking a person: requests that trust keeps waiting, and summaries whose source is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.credentials import strings_in
from engram.kernel.history import event, record, send
from engram.kernel.inserting import insert
from engram.kernel.models import AnsweredThing, Workspace
from engram.kernel.refusals import MissingError, StaleError
from memories.core.content import content_hash
from memories.models import Derivation, Memory, Review, ReviewKind, ReviewStatus
from memories.services.causes import TOO_MANY_PENDING
from memories.services.review.trust import ReviewNeededError

# A chain of summaries is followed so far, so wide.
DERIVED_DEPTH = 8
DERIVED_MAX = 1000
REASON_MAX_CHARS = 300


def request_review(
    workspace: Workspace,
    needed: ReviewNeededError,
    fields: Mapping[str, Any],
    *,
    actor: Actor,
    now: datetime,
) -> Review:
    """Keep what an agent asked for until a reviewer decides; the same asked again is one review.

    The memory (or the statement, of a claim) is locked by the caller. `request` remembers what the
    memory was, so that the answer is never about something else. Raise `StaleError` when too much
    of this caller waits already.
    """
    memory = needed.memory
    request = {"fields": dict(fields), "seen": _fingerprint(memory, fields, now)}
    same = Review.objects.filter(
        memory=memory,
        kind=needed.kind,
        status=ReviewStatus.PENDING,
        request=request,
        actor_kind=actor.kind,
        actor_id=actor.id,
    )
    if (review := same.first()) is not None:
        return review
    _refuse_too_many(workspace, actor)
    memory_id = memory.id if memory else None
    review = _review(needed.kind, memory_id, request, needed.reason, actor=actor, now=now)
    _open([review], actor=actor, now=now)
    return review


def _refuse_too_many(workspace: Workspace, actor: Actor) -> None:
    """Raise `StaleError` when as many requests of a caller wait as may.

    Requests to forget do not count: there is at most one a memory. Calls at the same time may
    exceed the limit by one each, because none waits for another.
    """
    waiting = Review.objects.filter(
        status=ReviewStatus.PENDING, actor_kind=actor.kind, actor_id=actor.id
    ).exclude(kind__in=[ReviewKind.FORGET, ReviewKind.SOURCE_FORGOTTEN])
    limit = workspace.config.pending_reviews_per_key
    if waiting.count() >= limit:
        raise StaleError(
            f"{limit} requests of this caller wait for a person already; people must decide about"
            " them first. Nothing was stored.",
            cause=TOO_MANY_PENDING,
        )


def request_forgetting(
    needed: Sequence[ReviewNeededError], *, actor: Actor, now: datetime
) -> dict[UUID, UUID]:
    """Ask a reviewer about each locked memory, in a fixed number of queries: memory → review."""
    reasons = {one.memory: one.reason for one in needed if one.memory is not None}
    waiting = Review.objects.filter(
        memory__in=list(reasons),
        kind=ReviewKind.FORGET,
        status=ReviewStatus.PENDING,
        actor_kind=actor.kind,
        actor_id=actor.id,
    )
    asked = {memory_id: pk for memory_id, pk in waiting.values_list("memory_id", "pk") if memory_id}
    new = {
        memory.id: _review(
            ReviewKind.FORGET,
            memory.id,
            {"fields": {}, "seen": fingerprint_of(memory, now)},
            reason,
            actor=actor,
            now=now,
        )
        for memory, reason in reasons.items()
        if memory.id not in asked
    }  # fmt: skip
    _open(list(new.values()), actor=actor, now=now)
    return asked | {memory_id: review.id for memory_id, review in new.items()}


def lock_with_memory(review_id: UUID) -> tuple[Review, Memory | None]:
    """Lock and return a review and the memory that it is about, the memory first."""
    reviews = Review.objects.filter(pk=review_id)
    memory = Memory.objects.filter(pk__in=reviews.values("memory_id"))
    locked = memory.select_for_update(no_key=True).first()
    review = reviews.select_for_update().first()
    if review is None:
        raise MissingError("There is no such review.")
    return review, locked


def subject_of(review: Review) -> tuple[str, UUID]:
    """Return what history says a review is about: its memory, or itself when there is none."""
    return ("memory", review.memory_id) if review.memory_id else ("review", review.id)


def _fingerprint(memory: Memory | None, fields: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    return fingerprint_of(memory, now) if memory else {"statement": content_hash(fields["content"])}


def fingerprint_of(memory: Memory, now: datetime) -> dict[str, Any]:
    """Return what tells one state of a memory from another."""
    return {"revision": memory.revision, "state": str(memory.state(now))}


def _review(
    kind: str,
    memory_id: UUID | None,
    request: dict[str, Any],
    reason: str,
    *,
    actor: Actor,
    now: datetime,
) -> Review:
    return Review(
        kind=kind,
        memory_id=memory_id,
        request=request,
        reason=reason[:REASON_MAX_CHARS],
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor_label=actor.label,
        key_id=actor.key_id,
        created_at=now,
    )


def _open(reviews: Sequence[Review], *, actor: Actor, now: datetime) -> None:
    """Write new reviews with their events."""
    events = [
        event(
            "review.opened", of=subject_of(review), actor=actor, now=now,
            data={"review": str(review.id), "kind": str(review.kind)},
        )
        for review in reviews
    ]  # fmt: skip
    insert([*reviews, *events])
    for one in events:
        send(one)


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
        asked = _review(
            ReviewKind.SOURCE_FORGOTTEN, derived_id, {"sources": new},
            "What this memory was derived from was forgotten.", actor=actor, now=now,
        )  # fmt: skip
        _open([asked], actor=actor, now=now)
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


def lapse_about(memory_ids: Collection[UUID], *, now: datetime, with_flags: bool = False) -> None:
    """Close the requests about memories that were hidden, brought back or changed.

    Whether a summary may stay (`with_flags`) is asked until the summary itself is forgotten.
    """
    waiting = Review.objects.filter(memory__in=list(memory_ids), status=ReviewStatus.PENDING)
    if not with_flags:
        waiting = waiting.exclude(kind=ReviewKind.SOURCE_FORGOTTEN)
    close(waiting.order_by("pk").select_for_update(), ReviewStatus.LAPSED, actor=SYSTEM, now=now)


def answered_about(statements: Collection[str]) -> list[UUID]:
    """Return the reviews that ask for a statement (by hash) and that kept answers show."""
    shown = AnsweredThing.objects.exclude(answer__body=None).values("thing_id")
    reviews = Review.objects.filter(pk__in=shown).order_by()
    return [
        review_id
        for review_id, asked in reviews.values_list("pk", "request__fields").iterator()
        if any(content_hash(text) in statements for text in strings_in(asked))
    ]


def lapse_claims(statements: Collection[str], *, now: datetime) -> None:
    """Close the claims of statements (by hash) that were forgotten: nobody is asked about them."""
    waiting = Review.objects.filter(
        memory=None, status=ReviewStatus.PENDING, request__seen__statement__in=list(statements)
    )
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
    """Write what became of reviews, and record it in history."""
    for review in reviews:
        review.status = status
        review.decided_at = now
        review.decided_by = actor.label
        review.note = note
        review.result = result
        review.save(update_fields=["status", "decided_at", "decided_by", "note", "result"])
        subjects = {subject_of(review), *([("memory", result.id)] if result else [])}
        for of in sorted(subjects):
            record(
                f"review.{status}",
                of=of,
                actor=actor,
                now=now,
                data={"review": str(review.id), "kind": review.kind},
            )
