"""A card goes on with the memory that takes the place of one of its members."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from conflicts.models import Conflict, ConflictMember
from conflicts.services.cards.question import ask_anew, in_order
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from memories.models import State


def follow(card: Conflict, hidden: Sequence[UUID], *, now: datetime) -> None:
    """Add the live successors of hidden members to a locked card, and ask about their words.

    Only versions of the same memory: what else takes a place is another memory's claim. Whether
    they disagree with the others still, is read next (`reworded.settle_reworded`).
    """
    members = list(card.members.select_related("memory__superseded_by"))
    held = {member.memory_id for member in members}
    added: list[ConflictMember] = []
    for member in members:
        successor = member.memory.superseded_by
        if (
            member.memory_id not in hidden
            or successor is None
            or successor.lineage != member.lineage
            or successor.id in held
            or successor.state(now) != State.ACTIVE
        ):
            continue
        added.append(
            ConflictMember(
                conflict=card,
                memory=successor,
                lineage=successor.lineage,
                revision=successor.revision,
                says_yes=member.says_yes,
                is_reworded=True,
            )
        )
        told = {"conflict": str(card.id)}
        record("memory.disputed", of=("memory", successor.id), actor=SYSTEM, now=now, data=told)
    if added:
        in_order([*members, *added])
        ask_anew(card, now=now)
