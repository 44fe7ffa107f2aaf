"""Snooze cards until a time, and open them again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from conflicts.models import Conflict
from conflicts.models.card import ConflictStatus
from conflicts.services.cards.lapse import expired_cards, lapse_expired
from conflicts.services.cards.locks import lock_card
from conflicts.services.causes import ALREADY_DECIDED
from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.causes import NOT_PUT_OFF
from engram.kernel.due import due_workspaces
from engram.kernel.history import record
from engram.kernel.models import Event, Workspace
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace

SNOOZED: Final = "conflict.snoozed"  # the type of the event, which says by whom


def snooze(
    workspace: Workspace, conflict_id: UUID, *, until: datetime, actor: Actor, now: datetime
) -> Conflict:
    """Snooze a waiting card until a time in the future."""
    if until <= now:
        raise InvalidError("until", "Must be in the future.")
    with in_workspace(workspace):
        conflict = lock_card(conflict_id)
        if conflict.status not in {ConflictStatus.OPEN, ConflictStatus.SNOOZED}:
            raise StaleError("This conflict is decided already.", cause=ALREADY_DECIDED)
        conflict.status = ConflictStatus.SNOOZED
        conflict.snoozed_until = until
        _save(conflict, now)
        record(
            SNOOZED,
            of=("conflict", conflict.id),
            actor=actor,
            now=now,
            data={"until": until.isoformat()},
        )
        return conflict


def snoozers(cards: Sequence[Conflict]) -> dict[UUID, str]:
    """Return by card who snoozed it last; the card itself keeps only until when."""
    if not cards:
        return {}
    events = Event.objects.filter(type=SNOOZED, object_id__in=[str(card.pk) for card in cards])
    newest = events.order_by("object_id", "-seq").distinct("object_id")
    return {UUID(pk): by for pk, by in newest.values_list("object_id", "actor_label")}


def find_due(now: datetime) -> list[Workspace]:
    """Return the workspaces with a snooze that has ended, or a card whose memories have expired."""
    snoozed = due_workspaces(lambda: _select_ended(now), "snoozed_until")
    expired = due_workspaces(lambda: expired_cards(now), "updated_at")
    return list(dict.fromkeys([*snoozed, *expired]))


def _select_ended(now: datetime) -> QuerySet[Conflict]:
    return Conflict.objects.filter(status=ConflictStatus.SNOOZED, snoozed_until__lte=now)


def wake_due(workspace: Workspace, *, now: datetime) -> int:
    """Open the cards whose snooze has ended and return the number; close expired cards."""
    with in_workspace(workspace):
        cards = list(_select_ended(now).select_for_update(skip_locked=True).order_by("pk"))
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


def wake(workspace: Workspace, conflict_id: UUID, *, actor: Actor, now: datetime) -> Conflict:
    """Open a snoozed card again."""
    with in_workspace(workspace):
        conflict = lock_card(conflict_id)
        if conflict.status != ConflictStatus.SNOOZED:
            raise StaleError("This conflict is not snoozed any more.", cause=NOT_PUT_OFF)
        conflict.status = ConflictStatus.OPEN
        conflict.snoozed_until = None
        conflict.version += 1
        conflict.updated_at = now
        conflict.save(update_fields=["status", "snoozed_until", "version", "updated_at"])
        record("conflict.reopened", of=("conflict", conflict.id), actor=actor, now=now)
        return conflict
