"""Undo a verdict: restore every memory's lifecycle and open the card again."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from conflicts.models import Conflict, Decision
from conflicts.models.card import ConflictStatus
from conflicts.services.cards.locks import lock_card
from conflicts.services.causes import MEMBERS_CHANGED
from conflicts.services.muting.propose import review_precision
from conflicts.services.verdicts.resolve import UPHOLDING
from engram.kernel.actors import Actor
from engram.kernel.causes import NOTHING_TO_UNDO
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.causes import SAME_STATEMENT
from memories.services.index.statement_hashes import COMMITTED_AGAIN, lock_statements, refuse_twins
from memories.services.lifecycle.states import hide, restore_fields
from memories.services.locks import lock


def undo(workspace: Workspace, conflict_id: UUID, *, actor: Actor, now: datetime) -> Conflict:
    """Undo the card's decision; raise `StaleError` with the members that changed since."""
    try:
        with in_workspace(workspace):
            card = _undo(conflict_id, actor=actor, now=now)
            review_precision(workspace, card, now=now)
            return card
    except IntegrityError:
        raise StaleError(COMMITTED_AGAIN, cause=SAME_STATEMENT) from None


def _undo(conflict_id: UUID, *, actor: Actor, now: datetime) -> Conflict:
    # Statements are locked before memories and these before the card, so the decision, read without
    # a lock, is read once more.
    current = Decision.objects.filter(conflict=conflict_id, undone_at=None)
    decision = current.first()
    if decision is None:
        lock_card(conflict_id)  # raises when there is no such card
        raise StaleError("There is no decision to undo.", cause=NOTHING_TO_UNDO)
    effects = {UUID(effect["memory"]): effect for effect in decision.effects}
    lock_statements(effect["content_hash"] for effect in decision.effects)
    answer_ids = [decision.answer_id] if decision.answer_id else []
    memories = {memory.id: memory for memory in lock([*effects, *answer_ids])}
    conflict = lock_card(conflict_id)
    if current.first() != decision:
        raise StaleError("The decision was undone meanwhile.", cause=NOTHING_TO_UNDO)
    changed = [
        memory_id
        for memory_id, effect in effects.items()
        if memory_id not in memories or not _is_unchanged(memories[memory_id], effect)
    ]
    if changed:
        raise StaleError("Members have changed since the decision.", changed, cause=MEMBERS_CHANGED)
    refuse_twins([memories[i] for i in effects if _comes_back(memories[i], effects[i], now)], now)
    conflict.status = ConflictStatus.OPEN
    conflict.snoozed_until = None
    conflict.version += 1
    conflict.updated_at = now
    conflict.save(update_fields=["status", "snoozed_until", "version", "updated_at"])
    decision.undone_at = now
    decision.undone_by = actor.label
    decision.save(update_fields=["undone_at", "undone_by"])
    because = {"conflict": str(conflict.id), "undo": True}
    _retire_answer(decision, effects, memories, actor=actor, now=now, because=because)
    for memory_id, effect in effects.items():
        if effect["before"] != effect["after"]:
            restore_fields(
                memories[memory_id], _values(effect["before"]),
                actor=actor, now=now, because=because,
            )  # fmt: skip
    for memory_id in decision.kept if decision.verdict in UPHOLDING else ():
        record("memory.released", of=("memory", memory_id), actor=actor, now=now, data=because)
    record(
        "conflict.reopened",
        of=("conflict", conflict.id),
        actor=actor,
        now=now,
        data={"verdict": decision.verdict, "status": conflict.status},
    )
    return conflict


def _retire_answer(
    decision: Decision,
    effects: dict[UUID, Any],
    memories: dict[UUID, Memory],
    *,
    actor: Actor,
    now: datetime,
    because: dict[str, Any],
) -> None:
    """Retire the memory that the answer created; one that existed before stays."""
    if decision.answer_id and decision.is_answer_new:
        hide([memories[decision.answer_id]], "retired_at", actor=actor, now=now, because=because)


def _values(stored: dict[str, str | None]) -> dict[str, Any]:
    """Return stored lifecycle fields as values of the model."""
    return {
        name: value
        if value is None
        else UUID(value)
        if name == "superseded_by_id"
        else datetime.fromisoformat(value)
        for name, value in stored.items()
    }


def _comes_back(memory: Memory, effect: dict[str, Any], now: datetime) -> bool:
    """Return whether undoing makes a memory live again."""
    is_over = memory.expires_at is not None and memory.expires_at <= now
    return effect["before"] != effect["after"] and not is_over


def _is_unchanged(memory: Memory, effect: dict[str, Any]) -> bool:
    """Return whether a memory's text and lifecycle are as the decision left them."""
    return memory.content_hash == effect["content_hash"] and all(
        getattr(memory, name) == value for name, value in _values(effect["after"]).items()
    )
