"""Find the memories before and after others in their sessions (question and answer turns).

A session belongs to its key: memories of another key under the same session key are not part of it.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from engram.kernel.binary import binary_cursor, pack_ids
from engram.kernel.plain_sql import Rows, condition_of
from memories.models import Memory

REACH = 2  # steps before and after a memory

# Row comparison is lexicographic and can use an index.
_AROUND = """
    SELECT here.id,
        ARRAY(
            SELECT id FROM memories_memory
            WHERE {condition} AND session_key <> '' AND session_key = here.session_key
                AND key_id IS NOT DISTINCT FROM here.key_id
                AND (observed_at, created_at, id) < (here.observed_at, here.created_at, here.id)
            ORDER BY observed_at DESC, created_at DESC, id DESC LIMIT {reach}
        ),
        ARRAY(
            SELECT id FROM memories_memory
            WHERE {condition} AND session_key <> '' AND session_key = here.session_key
                AND key_id IS NOT DISTINCT FROM here.key_id
                AND (observed_at, created_at, id) > (here.observed_at, here.created_at, here.id)
            ORDER BY observed_at, created_at, id LIMIT {reach}
        )
    FROM (
        SELECT id, session_key, key_id, observed_at, created_at FROM memories_memory
        WHERE {condition} AND session_key <> '' AND id = ANY(%(ids)s::uuid[])
        OFFSET 0
    ) AS here
"""


def neighbours(
    recallable: Rows[Memory], ids: Collection[UUID]
) -> dict[UUID, tuple[list[UUID], list[UUID]]]:
    """Return the two recallable memories before and after each in its session, nearest first."""
    condition = condition_of(recallable)
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(
            _AROUND.format(condition=condition.sql, reach=REACH),
            condition.parameters | {"ids": pack_ids(ids)},
        )
        return {
            memory_id: (previous, following) for memory_id, previous, following in cursor.fetchall()
        }
