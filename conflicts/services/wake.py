"""Ending a snooze before its time."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from conflicts.models import Conflict
from conflicts.models.card import ConflictStatus
from conflicts.services.lookup import locked_conflict
from engram.kernel.actors import Actor
from engram.kernel.causes import NOT_PUT_OFF
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace


def wake(workspace: Workspace, conflict_id: UUID, *, actor: Actor, now: datetime) -> Conflict:
    """Open a snoozed card again."""
    with in_workspace(workspace):
        conflict = locked_conflict(conflict_id)
        if conflict.status != ConflictStatus.SNOOZED:
            raise StaleError("This conflict is not put off any more.", cause=NOT_PUT_OFF)
        conflict.status = ConflictStatus.OPEN
        conflict.snoozed_until = None
        conflict.version += 1
        conflict.updated_at = now
        conflict.save(update_fields=["status", "snoozed_until", "version", "updated_at"])
        record("conflict.reopened", of=("conflict", conflict.id), actor=actor, now=now)
        return conflict
