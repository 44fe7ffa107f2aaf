"""Find the questions that were answered last among the newest memories, without reading all.

A page of all questions would else sort every answer of the workspace.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db.models import F

from engram.kernel.planning import Among, by_index, by_index_in_order
from memories.models import Memory, MemoryAnswer

MEMORIES_READ: Final = 2000  # the newest; with few answers among them all are read


def find_newest(count: int, *, now: datetime) -> list[int] | None:
    """Return the ids of the newest answers to the questions that were answered last.

    They are `count`, or all if there are fewer. None if the newest memories do not tell: two
    queries by index, however many memories there are.
    """
    readable = Memory.objects.recallable(now).order_by("-observed_at")
    with by_index_in_order():
        newest = dict(readable.values_list("pk", "observed_at")[:MEMORIES_READ])
    with by_index():
        told = MemoryAnswer.objects.filter(Among(F("memory_id"), newest)).order_by()
        rows = [
            (newest[memory], pk, group)
            for pk, memory, group in told.values_list("pk", "memory_id", "question_group")
        ]
    is_all = len(newest) < MEMORIES_READ
    if not is_all:  # others, not read, may be as old as the last one
        last = min(newest.values())
        rows = [row for row in rows if row[0] > last]
    found: dict[object, int] = {}
    for _, pk, group in sorted(rows, key=lambda row: row[:2], reverse=True):
        found.setdefault(group, pk)
    return list(found.values())[:count] if is_all or len(found) >= count else None
