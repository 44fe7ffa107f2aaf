"""Accept or reject a pending review; an accepted request runs as its requester."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from engram.kernel.actors import Actor
from engram.kernel.causes import WRITTEN_MEANWHILE
from engram.kernel.collisions import AGAIN
from engram.kernel.credentials import refuse_credentials
from engram.kernel.models import Role, Workspace
from engram.kernel.refusals import InvalidError, MissingError, RefusalError, StaleError
from engram.kernel.tenancy import before_writing, in_workspace
from memories.core.content import content_hash
from memories.models import Memory, Review, ReviewKind, ReviewStatus
from memories.services.causes import REVIEW_CLOSED, REVIEW_LAPSED
from memories.services.commit import commit
from memories.services.commit.draft import Draft
from memories.services.index.statement_hashes import forgotten_wordings, lock_statements
from memories.services.lifecycle.forget import restore
from memories.services.lifecycle.replace import carry_out
from memories.services.lifecycle.revise import apply_revision, embed_wording, revision_of
from memories.services.lifecycle.states import hide
from memories.services.locks import lock
from memories.services.review.ask import close, fingerprint_of, lock_with_memory

CHANGED = "What this is about has changed meanwhile; the request has lapsed."
FORGOTTEN = "Exactly this was forgotten meanwhile; the request has lapsed."


class LapsedError(StaleError):
    """A request cannot be carried out any more and was closed as lapsed."""

    default_cause = REVIEW_LAPSED


@dataclass(frozen=True, slots=True)
class _Ready:
    """What is computed for a request before locks are taken."""

    prepared: commit.Prepared | None = None
    changes: dict[str, Any] | None = None
    vectors: Any = None
    hashes: tuple[str, ...] = ()
    memories: tuple[UUID, ...] = ()  # to lock together, in the order of their ids


def accept(
    workspace: Workspace, review_id: UUID, *, note: str = "", actor: Actor, now: datetime
) -> Review:
    """Carry out the request; the memory keeps the requester as writer, and their provenance.

    Raise `LapsedError` when the memory has changed since the request was made, or the request is
    refused now. A lost race with another writer raises `StaleError` and leaves the review pending.
    """
    refuse_credentials({"note": note})
    with before_writing(workspace):
        pending = _find_review(review_id)
    ready = _prepare(pending, workspace)
    try:
        with in_workspace(workspace):
            review, memory = _lock_review(review_id, ready.hashes, ready.memories)
            if not _is_unchanged(review, memory, now):
                raise LapsedError(CHANGED, [memory.id] if memory else [])
            if any(at >= review.created_at for at in forgotten_wordings(ready.hashes).values()):
                raise LapsedError(FORGOTTEN)
            review.status = (
                ReviewStatus.ACCEPTED
            )  # so that hiding the memory does not lapse this review
            review.save(update_fields=["status"])
            result = _perform(workspace, review, memory, ready, actor=actor, now=now)
            close([review], ReviewStatus.ACCEPTED, actor=actor, now=now, note=note, result=result)
            return review
    except (LapsedError, InvalidError) as error:
        _lapse(workspace, review_id, actor=actor, now=now)
        raise error if isinstance(error, LapsedError) else LapsedError(CHANGED) from error
    except IntegrityError as error:
        raise StaleError(AGAIN, cause=WRITTEN_MEANWHILE) from error


def reject(
    workspace: Workspace, review_id: UUID, *, note: str = "", actor: Actor, now: datetime
) -> Review:
    """Reject the request; the memory does not change."""
    refuse_credentials({"note": note})
    with in_workspace(workspace):
        review, _ = _lock_review(review_id)
        close([review], ReviewStatus.REJECTED, actor=actor, now=now, note=note)
        return review


def _find_review(review_id: UUID) -> Review:
    review = Review.objects.filter(pk=review_id).first()
    if review is None:
        raise MissingError("There is no such review.")
    return review


def _lock_review(
    review_id: UUID, hashes: Sequence[str] = (), memories: Sequence[UUID] = ()
) -> tuple[Review, Memory | None]:
    """Lock statements, memories and the pending review, in this order; return its memory, too."""
    lock_statements(hashes)
    if memories:
        lock(memories)
    review, memory = lock_with_memory(review_id)
    if review.status != ReviewStatus.PENDING:
        raise StaleError(f"This review is {review.status} already.", cause=REVIEW_CLOSED)
    return review, memory


def _prepare(review: Review, workspace: Workspace) -> _Ready:
    fields = review.request.get("fields", {})
    if review.status != ReviewStatus.PENDING or not fields:
        return _Ready()
    if review.kind == ReviewKind.REPLACE:
        named = (review.memory_id, UUID(fields["replaced_by"]))
        return _Ready(memories=tuple(one for one in named if one is not None))
    if review.kind == ReviewKind.REVISE:
        changes = revision_of(fields)
        content = changes.get("content")
        vectors = embed_wording(content, workspace.embedding_model)
        return _Ready(None, changes, vectors, (content_hash(content),) if content else ())
    prepared = commit.prepare([Draft.from_json(fields)], workspace.embedding_model)
    return _Ready(prepared, hashes=prepared.hashes)


def _is_unchanged(review: Review, memory: Memory | None, now: datetime) -> bool:
    if memory is None:
        return True
    if review.kind == ReviewKind.SOURCE_FORGOTTEN:
        return memory.forgotten_at is None
    return bool(review.request["seen"] == fingerprint_of(memory, now))


def _perform(
    workspace: Workspace,
    review: Review,
    memory: Memory | None,
    ready: _Ready,
    *,
    actor: Actor,
    now: datetime,
) -> Memory | None:
    """Carry out the request as the requester, with the trust of the role reviewer."""
    because = {"review": str(review.id)}
    if memory is not None and review.kind == ReviewKind.SOURCE_FORGOTTEN:
        hide([memory], "forgotten_at", actor=actor, now=now, because=because)
        return None
    requester = Actor(
        kind=review.actor_kind,  # type: ignore[arg-type]  # a stored `Actor.kind`
        id=review.actor_id,
        label=review.actor_label,
        role=Role.REVIEWER,
    )
    if memory is not None and review.kind == ReviewKind.FORGET:
        hide([memory], "forgotten_at", actor=requester, now=now, because=because)
        return None
    if memory is not None and review.kind == ReviewKind.REPLACE:
        successor = carry_out(review, memory, actor=requester, now=now, because=because)
        if successor is None:
            raise LapsedError(CHANGED, [memory.id])
        return successor
    if memory is not None and ready.changes is not None:
        return apply_revision(
            workspace, memory, ready.changes, ready.vectors, actor=requester, now=now
        )
    if memory is not None and ready.prepared is None:
        return restore(workspace, [memory.id], actor=requester, now=now).memories[0]
    assert ready.prepared is not None  # noqa: S101  a request without a memory is a commit
    written = commit.write(workspace, ready.prepared, actor=requester, now=now)[0]
    if written.memory is None:
        raise LapsedError(FORGOTTEN)
    return written.memory


def _lapse(workspace: Workspace, review_id: UUID, *, actor: Actor, now: datetime) -> None:
    """Close a review as lapsed, if it is still pending."""
    with in_workspace(workspace):
        try:
            review, _ = _lock_review(review_id)
        except RefusalError:
            return
        close([review], ReviewStatus.LAPSED, actor=actor, now=now)
