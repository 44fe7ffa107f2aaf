"""Putting a card off, and bringing it back when its time has come."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from conflicts.models import Conflict
from conflicts.models.card import ConflictStatus
from conflicts.services.causes import ALREADY_DECIDED
from conflicts.services.lapse import lapse_expired
from conflicts.services.lookup import locked_conflict
from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace


def snooze(
    workspace: Workspace, conflict_id: UUID, *, until: datetime, actor: Actor, now: datetime
) -> Conflict:
    """Put an open card off until a time in the future."""
    if until <= now:
        raise InvalidError("until", "Must be in the future.")
    with in_workspace(workspace):
        conflict = locked_conflict(conflict_id)
        if conflict.status not in {ConflictStatus.OPEN, ConflictStatus.SNOOZED}:
            raise StaleError("This conflict is decided already.", cause=ALREADY_DECIDED)
        conflict.status = ConflictStatus.SNOOZED
        conflict.snoozed_until = until
        _save(conflict, now)
        record(
            "conflict.snoozed",
            of=("conflict", conflict.id),
            actor=actor,
            now=now,
            data={"until": until.isoformat()},
        )
        return conflict


def wake_due(workspace: Workspace, *, now: datetime) -> int:
    """Open the cards whose snooze has ended, return how many; close those that expired."""
    with in_workspace(workspace):
        due = Conflict.objects.select_for_update(skip_locked=True).filter(
            status=ConflictStatus.SNOOZED, snoozed_until__lte=now
        )
        cards = list(due.order_by("pk"))
        for conflict in cards:
            conflict.status = ConflictStatus.OPEN
            conflict.snoozed_until = None
            _save(conflict, now)
            record("conflict.reopened", of=("conflict", conflict.id), actor=SYSTEM, now=now)
    with in_workspace(workspace):  # apart: each transaction locks its cards in order
        lapse_expired(now)
    return len(cards)


def _save(conflict: Conflict, now: datetime) -> None:
    conflict.version += 1
    conflict.updated_at = now
    conflict.save(update_fields=["status", "snoozed_until", "version", "updated_at"])
