"""Let a live memory replace another one, as far as the caller may decide that alone."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.models import Workspace
from memories.models import Memory, Provenance, Review, ReviewKind, ReviewStatus, State
from memories.services.lifecycle.states import hide
from memories.services.locks import lock
from memories.services.review.ask import request_review
from memories.services.review.trust import ReviewNeededError, demand_all, demand_trust

OLDER = "It was observed before the memory that it would replace."


def replace_by(
    workspace: Workspace, replaced: Memory, successor: Memory, *, actor: Actor, now: datetime
) -> Review | None:
    """Supersede a locked memory by another locked one; return a review where that needs one."""
    try:
        _demand_may_replace(replaced, successor, actor=actor)
    except ReviewNeededError as needed:
        fields = {"content": successor.content, "replaced_by": str(successor.id)}
        return request_review(workspace, needed, fields, actor=actor, now=now)
    hide([replaced], "superseded_at", actor=actor, now=now, successor=successor)
    return None


def carry_out(
    review: Review, replaced: Memory, *, actor: Actor, now: datetime, because: dict[str, Any]
) -> Memory | None:
    """Supersede a memory as a review asks; None if the successor was changed or hidden since."""
    fields = review.request["fields"]
    found = {memory.id: memory for memory in lock([replaced.id, UUID(fields["replaced_by"])])}
    successor = found.get(UUID(fields["replaced_by"]))
    is_as_asked = successor is not None and successor.content == fields["content"]
    if successor is None or not is_as_asked or successor.state(now) != State.ACTIVE:
        return None
    hide(
        [replaced], "superseded_at", actor=actor, now=now, successor=successor, because=because
    )  # fmt: skip
    return successor


def rejected_replacements(replaced: Collection[UUID]) -> set[tuple[UUID, UUID]]:
    """Return which memories a person did not let replace these: the replaced and the other one."""
    refused = Review.objects.filter(
        kind=ReviewKind.REPLACE, memory__in=replaced, status=ReviewStatus.REJECTED
    )
    return {
        (memory_id, UUID(successor))
        for memory_id, successor in refused.values_list("memory_id", "request__fields__replaced_by")
        if memory_id is not None
    }


def _demand_may_replace(replaced: Memory, successor: Memory, *, actor: Actor) -> None:
    """Raise `ReviewNeededError` when an agent may not say alone that a memory replaces another.

    The word of an agent about somebody else's memory is worth no more than the agent may claim.
    """
    provenance = min(
        Provenance(successor.provenance), actor.highest_provenance, key=lambda one: one.trust
    )

    def demand_newer() -> None:
        if successor.observed_at < replaced.observed_at and not actor.is_reviewer:
            raise ReviewNeededError(ReviewKind.REPLACE, replaced, OLDER)

    demand_all(
        lambda: demand_trust(replaced, kind=ReviewKind.REPLACE, provenance=provenance, actor=actor),
        demand_newer,
    )
