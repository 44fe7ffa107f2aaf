"""Read members' memories as they were when their card's question was made, or decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from django.db.models import F

from conflicts.models import ConflictMember
from memories.models import Revision


def read_former(
    members: Sequence[ConflictMember], name: Literal["content", "fields"]
) -> dict[tuple[UUID, int], Any]:
    """Return by memory and revision a field of the revisions that the saved members name.

    A memory that was not revised since has none. One query, of one revision a member; none for
    members whose memories are as they were.
    """
    changed = [m.pk for m in members if m.memory.revision != m.revision]
    rows = Revision.objects.filter(
        memory__conflict_members__in=changed, number=F("memory__conflict_members__revision")
    )
    return {(memory, at): value for memory, at, value in rows.values_list("memory", "number", name)}
