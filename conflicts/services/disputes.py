"""Marks recalled memories that take part in an open conflict: plugged into recall by setting."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from conflicts.models import ConflictMember
from conflicts.models.card import ConflictStatus


def annotate(memory_ids: Collection[UUID]) -> dict[UUID, list[UUID]]:
    """Return the open conflicts of each disputed memory."""
    found: dict[UUID, list[UUID]] = defaultdict(list)
    members = ConflictMember.objects.filter(
        memory__in=memory_ids,
        conflict__status__in=[ConflictStatus.OPEN, ConflictStatus.SNOOZED],
    )
    for memory_id, conflict_id in members.order_by("conflict_id").values_list(
        "memory_id", "conflict_id"
    ):
        found[memory_id].append(conflict_id)
    return dict(found)
