"""Noting a recall: one cheap insert on the hot path, summed up later by `counting`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection

from engram.kernel.tenancy import current_workspace_id

# A recall writes nothing else, so its commit need not wait for the disk: a crash of the database
# loses recalls of the last half second at most. A sweep's own commit waits, and with it all that it
# counted, so none is ever counted twice.
NOTE = """
    WITH unhurried AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    INSERT INTO memories_recallrecord (workspace_id, memory_ids, noise_count, session_key, at)
    SELECT %s, %s::uuid[], %s, %s, %s FROM unhurried
"""


def note_recall(
    memory_ids: Sequence[UUID], *, noise_count: int, session_key: str, now: datetime
) -> None:
    """Note that a recall returned these memories, some of them below the noise score.

    The last write of a transaction that writes nothing else.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            NOTE, [current_workspace_id(), list(memory_ids), noise_count, session_key, now]
        )
