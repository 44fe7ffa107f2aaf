"""Find the open conflicts of recalled memories, and the pairs that have a card.

`ENGRAM_RECALL_ANNOTATORS`, `ENGRAM_DISPUTED_PAIRS` and `ENGRAM_CARDED_PAIRS` name these functions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Greatest, Least

from conflicts.models import ConflictMember, ConflictPair
from conflicts.models.card import WAITING
from engram.kernel.binary import binary_cursor, pack_ids
from engram.kernel.tenancy import current_workspace_id
from memories.services.disputes import OpenConflict

# All members of the waiting cards of some memories.
_MEMBERS = """
    SELECT conflict_id, memory_id, says_yes FROM conflicts_conflictmember
    WHERE workspace_id = %(workspace)s AND conflict_id IN (
        SELECT own.conflict_id FROM conflicts_conflictmember AS own
        JOIN conflicts_conflict AS card ON card.id = own.conflict_id
        WHERE own.workspace_id = %(workspace)s AND own.memory_id = ANY(%(ids)s::uuid[])
            AND card.status = ANY(%(waiting)s::text[])
    )
    ORDER BY conflict_id, position
"""


def in_one_conflict(one: str, other: str) -> Q:
    """Return the condition that the memories in two fields of a row are on one waiting card."""
    other_member = ConflictMember.objects.filter(
        conflict=OuterRef("conflict"), memory=OuterRef(OuterRef(other))
    )
    members = ConflictMember.objects.filter(
        Exists(other_member), memory=OuterRef(one), conflict__status__in=WAITING
    )
    return Q(Exists(members))


def have_card(one: str, other: str) -> Q:
    """Return the condition that a card covers the memories in two fields of a row.

    It waits, or people decided about it; one that was closed without a verdict does not count.
    """
    ends = [OuterRef(f"{field}__lineage") for field in (one, other)]
    covering = ConflictPair.objects.filter(
        lineage_low=Least(*ends), lineage_high=Greatest(*ends), conflict__is_lapsed=False
    )
    return Q(Exists(covering)) | in_one_conflict(one, other)


def annotate(memory_ids: Collection[UUID]) -> dict[UUID, list[OpenConflict]]:
    """Return the open conflicts of each disputed memory, with the members on the other side.

    On a card without a member for yes, all other members are on the other side.
    """
    parameters: dict[str, Any] = {
        "workspace": current_workspace_id(),
        "ids": pack_ids(memory_ids),
        "waiting": [str(status) for status in WAITING],
    }
    cards: dict[UUID, dict[UUID, bool]] = defaultdict(dict)
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(_MEMBERS, parameters)
        for card, memory, says_yes in cursor.fetchall():
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
