"""Find the open conflicts of recalled memories; `ENGRAM_RECALL_ANNOTATORS` names `annotate`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from conflicts.models import ConflictMember
from conflicts.models.card import WAITING
from memories.services.disputes import OpenConflict


def in_one_conflict(one: str, other: str) -> Q:
    """Return the condition that the memories in two fields of a row are on one waiting card."""
    other_member = ConflictMember.objects.filter(
        conflict=OuterRef("conflict"), memory=OuterRef(OuterRef(other))
    )
    members = ConflictMember.objects.filter(
        Exists(other_member), memory=OuterRef(one), conflict__status__in=WAITING
    )
    return Q(Exists(members))


def annotate(memory_ids: Collection[UUID]) -> dict[UUID, list[OpenConflict]]:
    """Return the open conflicts of each disputed memory, with the members on the other side.

    On a card without a member for yes, all other members are on the other side.
    """
    of_these = ConflictMember.objects.filter(
        memory__in=memory_ids, conflict__status__in=WAITING
    ).values("conflict_id")
    members = ConflictMember.objects.filter(conflict__in=of_these).order_by(
        "conflict_id", "position"
    )
    cards: dict[UUID, dict[UUID, bool]] = defaultdict(dict)
    for card, memory, says_yes in members.values_list("conflict_id", "memory_id", "says_yes"):
        cards[card][memory] = says_yes
    wanted = set(memory_ids)
    found: dict[UUID, list[OpenConflict]] = defaultdict(list)
    for card, sides in cards.items():
        side = {says: [i for i, s in sides.items() if s is says] for says in (True, False)}
        for memory, says_yes in sides.items():
            if memory in wanted:
                opposing = side[not says_yes] or [i for i in sides if i != memory]
                found[memory].append(OpenConflict(card, opposing))
    return dict(found)
