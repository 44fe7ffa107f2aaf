"""Replace hidden members of a card by the newer versions of the same memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from conflicts.models import Conflict, ConflictMember
from conflicts.services.cards.question import number_members, rebuild_question
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from memories.models import State


def add_successors(card: Conflict, hidden: Sequence[UUID], *, now: datetime) -> None:
    """Add the live successors of hidden members to a locked card, and rebuild its question.

    Only successors of the same lineage: others are another memory's claim. The next detection run
    checks whether they still contradict the other members (`reworded.settle_reworded`).
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
        data = {"conflict": str(card.id)}
        record("memory.disputed", of=("memory", successor.id), actor=SYSTEM, now=now, data=data)
    if added:
        number_members([*members, *added])
        rebuild_question(card, now=now)
