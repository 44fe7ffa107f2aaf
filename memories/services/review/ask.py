"""Create and close reviews: requests that need more trust, and summaries without their source."""

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

# Limits on the depth and width of a chain of summaries.
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
    """Store a request until a reviewer decides; the same request again gives the same review.

    The caller has locked the memory (or, for a claim, the statement). `request` holds a fingerprint
    of the memory, so that a decision never applies to a changed memory. Raise `StaleError` when too
    many requests of this caller are pending.
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
    """Raise `StaleError` when a caller has reached the limit of pending requests.

    Requests to forget do not count: there is at most one per memory. Concurrent calls may exceed
    the limit by one each, because none waits for another.
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
    """Create a review for each locked memory, in a constant number of queries: memory → review."""
    reasons = {one.memory: one.reason for one in needed if one.memory is not None}
    waiting = Review.objects.filter(
        memory__in=list(reasons),
        kind=ReviewKind.FORGET,
        status=ReviewStatus.PENDING,
        actor_kind=actor.kind,
        actor_id=actor.id,
    )
    waiting_reviews = {
        memory_id: pk for memory_id, pk in waiting.values_list("memory_id", "pk") if memory_id
    }
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
        if memory.id not in waiting_reviews
    }  # fmt: skip
    _open(list(new.values()), actor=actor, now=now)
    return waiting_reviews | {memory_id: review.id for memory_id, review in new.items()}


def lock_with_memory(review_id: UUID) -> tuple[Review, Memory | None]:
    """Lock and return a review and its memory; the memory is locked first."""
    reviews = Review.objects.filter(pk=review_id)
    memory = Memory.objects.filter(pk__in=reviews.values("memory_id"))
    locked = memory.select_for_update(no_key=True).first()
    review = reviews.select_for_update().first()
    if review is None:
        raise MissingError("There is no such review.")
    return review, locked


def mark_reopened(review: Review, *, actor: Actor, now: datetime) -> None:
    """Let an answered review wait again; the answer stays in the history."""
    review.status = ReviewStatus.PENDING
    review.decided_at, review.decided_by, review.note = None, "", ""
    review.save(update_fields=["status", "decided_at", "decided_by", "note"])
    data = {"review": str(review.id), "kind": review.kind}
    record("review.reopened", of=subject_of(review), actor=actor, now=now, data=data)


def subject_of(review: Review) -> tuple[str, UUID]:
    """Return the object of a review's events: its memory, or itself when it has none."""
    return ("memory", review.memory_id) if review.memory_id else ("review", review.id)


def _fingerprint(memory: Memory | None, fields: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    return fingerprint_of(memory, now) if memory else {"statement": content_hash(fields["content"])}


def fingerprint_of(memory: Memory, now: datetime) -> dict[str, Any]:
    """Return the fingerprint of a memory's state."""
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
    """Insert new reviews with their events."""
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


def flag_derived(
    sources: Collection[UUID], *, are_gone: bool = False, actor: Actor, now: datetime
) -> int:
    """Create a review for each memory derived from a removed source, directly or indirectly.

    Return their number. There is one review per summary: further removed sources are added to it,
    and one by which the summary was forgotten, which is back now, waits again. `are_gone`: the
    sources were removed before; whoever kept a summary without them is not asked about it again.
    """
    flagged = 0
    for derived_id, removed in _derived_from(sources).items():
        waiting = _waiting_summaries([derived_id]).first()
        known = set(waiting.request["sources"]) if waiting else set()
        if are_gone:
            known |= _kept_without(derived_id)
        new = sorted(str(source) for source in removed if str(source) not in known)
        if not new:
            continue
        flagged += 1
        if waiting is None and (answered := _answered_flag(derived_id, new)) is not None:
            mark_reopened(answered, actor=actor, now=now)
            continue
        for source in new:
            record(
                "memory.source_forgotten",
                of=("memory", derived_id),
                actor=actor,
                now=now,
                data={"source": source},
            )
        if waiting is not None:
            waiting.request = {"sources": sorted({*waiting.request["sources"], *new})}
            waiting.save(update_fields=["request"])
            continue
        review = _review(
            ReviewKind.SOURCE_FORGOTTEN, derived_id, {"sources": new},
            "What this memory was derived from was forgotten.", actor=actor, now=now,
        )  # fmt: skip
        _open([review], actor=actor, now=now)
    return flagged


def _derived_from(sources: Collection[UUID]) -> dict[UUID, set[UUID]]:
    """Return the memories derived from the sources and not forgotten, with their sources."""
    found: dict[UUID, set[UUID]] = {}
    frontier: dict[UUID, set[UUID]] = {source: {source} for source in sources}
    for _ in range(DERIVED_DEPTH):
        rows = Derivation.objects.filter(source__in=list(frontier)).order_by("pk")
        wider: dict[UUID, set[UUID]] = {}
        for source_id, derived_id in rows.values_list("source_id", "derived_id"):
            if not frontier[source_id] <= found.get(derived_id, set()):
                wider.setdefault(derived_id, set()).update(frontier[source_id])
        for derived_id, removed in wider.items():
            if derived_id in found or len(found) < DERIVED_MAX:
                found.setdefault(derived_id, set()).update(removed)
        frontier = {i: removed for i, removed in wider.items() if i in found}
        if not frontier:
            break
    kept = Memory.objects.filter(pk__in=list(found), forgotten_at=None).exclude(pk__in=sources)
    return {i: found[i] for i in kept.order_by("created_at", "pk").values_list("pk", flat=True)}


def unflag_derived(sources: Collection[UUID], *, actor: Actor, now: datetime) -> None:
    """Close the reviews of summaries whose sources were restored."""
    back = {str(source) for source in sources}
    for review in _waiting_summaries(_derived_from(sources)):
        left = [source for source in review.request["sources"] if source not in back]
        if left:
            review.request = {"sources": left}
            review.save(update_fields=["request"])
        else:
            close([review], ReviewStatus.LAPSED, actor=actor, now=now)


def _answered_flag(derived_id: UUID, sources: Sequence[str]) -> Review | None:
    """Return the review by which a summary was forgotten for these sources: it is back now."""
    accepted = Review.objects.filter(
        memory=derived_id, kind=ReviewKind.SOURCE_FORGOTTEN, status=ReviewStatus.ACCEPTED
    )
    newest = accepted.select_for_update(no_key=True).first()
    return newest if newest and set(newest.request["sources"]) == set(sources) else None


def _kept_without(derived_id: UUID) -> set[str]:
    """Return the sources without which a person kept a summary, by their last answer about each."""
    flags = Review.objects.filter(memory=derived_id, kind=ReviewKind.SOURCE_FORGOTTEN)
    last: dict[str, str] = {}
    for request, status in flags.order_by("created_at", "pk").values_list("request", "status"):
        last |= dict.fromkeys(request["sources"], status)
    return {source for source, status in last.items() if status == ReviewStatus.REJECTED}


def _waiting_summaries(derived: Iterable[UUID]) -> Any:
    return Review.objects.filter(
        memory__in=list(derived),
        kind=ReviewKind.SOURCE_FORGOTTEN,
        status=ReviewStatus.PENDING,
    ).order_by("created_at", "pk")


def lapse_reviews(memory_ids: Collection[UUID], *, now: datetime, with_flags: bool = False) -> None:
    """Close as lapsed the reviews of memories that were hidden, restored or changed.

    Reviews of summaries lapse only `with_flags`, when the summary itself was forgotten.
    """
    waiting = Review.objects.filter(memory__in=list(memory_ids), status=ReviewStatus.PENDING)
    if not with_flags:
        waiting = waiting.exclude(kind=ReviewKind.SOURCE_FORGOTTEN)
    close(waiting.order_by("pk").select_for_update(), ReviewStatus.LAPSED, actor=SYSTEM, now=now)


def reviews_in_responses(statements: Collection[str]) -> list[UUID]:
    """Return the ids of reviews of these statements (by hash) that stored responses may show."""
    shown = AnsweredThing.objects.exclude(answer__body=None).values("thing_id")
    reviews = Review.objects.filter(pk__in=shown).order_by()
    return [
        review_id
        for review_id, fields in reviews.values_list("pk", "request__fields").iterator()
        if any(content_hash(text) in statements for text in strings_in(fields))
    ]


def lapse_claims(statements: Collection[str], *, now: datetime) -> None:
    """Close as lapsed the reviews of claims whose statement (by hash) was forgotten."""
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
    """Write the outcome of reviews, with their events."""
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
