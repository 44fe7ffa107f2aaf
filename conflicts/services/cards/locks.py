"""Locks on cards, taken after those on memories, and transactions that compare outside of locks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final, TypeVar
from uuid import UUID

from django.db.models import Q

from conflicts.core.comparisons import LookUps
from conflicts.models import Conflict, ConflictMember
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.models import Workspace
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace, release_connection
from memories.models import Memory
from memories.services.locks import lock

T = TypeVar("T")

MOST_TRIES: Final = 10
CHANGED = "These memories change faster than they are compared; try again."


def lock_card(conflict_id: UUID) -> Conflict:
    """Return the card, locked until the transaction ends."""
    conflict = Conflict.objects.select_for_update().filter(pk=conflict_id).first()
    if conflict is None:
        raise MissingError("There is no such conflict.")
    return conflict


def lock_cards(wanted: Q, memory_ids: Collection[UUID] | None = None) -> Iterable[Conflict]:
    """Return the cards, of these memories if given, locked in the order of their ids."""
    cards = Conflict.objects.filter(wanted)
    if memory_ids is not None:
        members = ConflictMember.objects.filter(memory__in=memory_ids)
        cards = cards.filter(pk__in=members.values("conflict_id"))
    return list(cards.order_by("pk").select_for_update())


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


def with_comparisons(workspace: Workspace, work: Callable[[LookUps], T]) -> T:
    """Run `work` in one transaction and return its result.

    `work` looks comparisons up. When one is missing, the transaction is rolled back, which releases
    its locks; the missing pairs are compared, and `work` runs again. So comparisons never make
    other writers wait, and texts that changed meanwhile are compared again. `work` must be
    repeatable.
    """
    known = LookUps()
    for _ in range(MOST_TRIES):
        try:
            with in_workspace(workspace):
                done = work(known)
                known.demand_known()
                return done
        except Exception:
            if not known.is_missing:  # else the error may result from a missing comparison
                raise
        release_connection()
        known.compare_missing()
    raise StaleError(CHANGED, cause=CHANGED_MEANWHILE)
