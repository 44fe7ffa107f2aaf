"""Undo a rejection: reopen a merge suggestion or a review."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import IntegrityError

from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.models import Workspace
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import (
    Memory,
    MergeSuggestion,
    Review,
    ReviewKind,
    ReviewStatus,
    SuggestionStatus,
)
from memories.services.causes import ALREADY_SUGGESTED, NOT_KEPT_APART, REVIEW_CLOSED
from memories.services.gate.suggestions import demand_unchanged, note_reopened
from memories.services.index.statement_hashes import forgotten_memory
from memories.services.locks import lock
from memories.services.review.ask import fingerprint_of, lock_with_memory, mark_reopened


def reopen_suggestion(
    workspace: Workspace, suggestion_id: UUID, *, actor: Actor, now: datetime
) -> MergeSuggestion:
    """Reopen a rejected merge suggestion; refused if one of its memories has changed since."""
    try:
        with in_workspace(workspace):
            rejected = MergeSuggestion.objects.filter(pk=suggestion_id).first()
            if rejected is None:
                raise MissingError("There is no such merge suggestion.")
            lock([rejected.memory_id, rejected.other_id])
            suggestion = MergeSuggestion.objects.select_for_update().get(pk=suggestion_id)
            if suggestion.status != SuggestionStatus.REJECTED:
                raise StaleError("These two are not kept apart any more.", cause=NOT_KEPT_APART)
            suggestion.status = SuggestionStatus.OPEN
            suggestion.decided_at, suggestion.decided_by = None, ""
            suggestion.save(update_fields=["status", "decided_at", "decided_by"])
            demand_unchanged(suggestion, now)
            note_reopened(suggestion, actor=actor, now=now)
            return suggestion
    except IntegrityError:
        raise StaleError("The two are suggested again already.", cause=ALREADY_SUGGESTED) from None


def reopen_review(workspace: Workspace, review_id: UUID, *, actor: Actor, now: datetime) -> Review:
    """Reopen a rejected review; refused if its memory has changed since the request."""
    with in_workspace(workspace):
        review, memory = lock_with_memory(review_id)
        if review.status != ReviewStatus.REJECTED:
            raise StaleError(f"This review is {review.status}.", cause=REVIEW_CLOSED)
        if memory is not None and not _is_unchanged(review, memory, now):
            raise StaleError(
                "What this is about has changed meanwhile.",
                [review.memory_id],
                cause=CHANGED_MEANWHILE,
            )
        if memory is None and forgotten_memory(review.request["seen"]["statement"]):
            raise StaleError(
                "Exactly this was forgotten meanwhile; restore it first.", cause=CHANGED_MEANWHILE
            )
        mark_reopened(review, actor=actor, now=now)
        return review


def _is_unchanged(review: Review, memory: Memory, now: datetime) -> bool:
    if review.kind != ReviewKind.SOURCE_FORGOTTEN:
        return bool(review.request["seen"] == fingerprint_of(memory, now))
    forgotten = Memory.objects.filter(pk__in=review.request["sources"]).exclude(forgotten_at=None)
    return memory.forgotten_at is None and forgotten.exists()
