"""Assign a card to a member, and comment on it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from conflicts.models import Conflict, ConflictComment
from conflicts.services.cards.locks import lock_card
from engram.kernel.actors import Actor
from engram.kernel.credentials import refuse_credentials
from engram.kernel.history import record
from engram.kernel.models import Membership, Workspace
from engram.kernel.refusals import InvalidError
from engram.kernel.tenancy import in_workspace


def assign(
    workspace: Workspace, conflict_id: UUID, *, username: str | None, actor: Actor, now: datetime
) -> Conflict:
    """Assign a card to a member of the workspace, or to nobody."""
    with in_workspace(workspace):
        conflict = lock_card(conflict_id)
        member = None
        if username is not None:
            memberships = Membership.objects.filter(workspace=workspace).select_related("user")
            member = memberships.filter(user__username=username).first()
            if member is None:
                raise InvalidError("assignee", "Nobody of that name belongs to this workspace.")
        conflict.assignee = member.user if member else None
        conflict.updated_at = now
        conflict.save(update_fields=["assignee", "updated_at"])
        record(
            "conflict.assigned",
            of=("conflict", conflict.id),
            actor=actor,
            now=now,
            data={"assignee": username},
        )
        return conflict


def comment(
    workspace: Workspace, conflict_id: UUID, *, text: str, actor: Actor, now: datetime
) -> Conflict:
    """Add a comment to a card."""
    refuse_credentials({"text": text})
    with in_workspace(workspace):
        conflict = lock_card(conflict_id)
        add_comment(conflict, text, actor=actor, now=now)
        return conflict


def add_comment(conflict: Conflict, text: str, *, actor: Actor, now: datetime) -> None:
    """Add a comment to a locked card of the current workspace."""
    ConflictComment.objects.create(conflict=conflict, author=actor.label, text=text, created_at=now)
    record("conflict.commented", of=("conflict", conflict.id), actor=actor, now=now)
