"""Look up and lock a card of the current workspace."""

from __future__ import annotations

from uuid import UUID

from conflicts.models import Conflict, ConflictMember
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.refusals import MissingError, StaleError
from memories.models import Memory
from memories.services.locks import lock


def lock_card(conflict_id: UUID) -> Conflict:
    """Return the card, locked until the transaction ends."""
    conflict = Conflict.objects.select_for_update().filter(pk=conflict_id).first()
    if conflict is None:
        raise MissingError("There is no such conflict.")
    return conflict


def lock_with_members(
    conflict_id: UUID,
) -> tuple[Conflict, list[ConflictMember], dict[UUID, Memory]]:
    """Return the card, its members and their memories by id, locked until the transaction ends.

    Memories are always locked before cards: forgetting locks memories, then lapses cards.
    """
    ids = ConflictMember.objects.filter(conflict=conflict_id).values_list("memory_id", flat=True)
    memories = {memory.id: memory for memory in lock(set(ids))}
    conflict = lock_card(conflict_id)
    members = list(conflict.members.all())
    if any(member.memory_id not in memories for member in members):
        raise StaleError("A memory has joined this conflict meanwhile.", cause=CHANGED_MEANWHILE)
    return conflict, members, memories
