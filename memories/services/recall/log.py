"""Write the recall log: one insert per recall, added to the counters later exactly once."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import DatabaseError, Error, connection

from engram.kernel.collisions import is_deadlock
from engram.kernel.due import waiting_since
from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.models import RecallRecord

# A recall writes nothing else, so its commit does not wait for the disk: a crash of the database
# loses at most the recalls of the last half second. The commit of a sweep waits for the disk, so no
# record is counted twice.
NOTE = """
    WITH unhurried AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    INSERT INTO memories_recallrecord (workspace_id, memory_ids, noise_count, session_key, at)
    SELECT %s, %s::uuid[], %s, %s, %s FROM unhurried
"""


def note_recall(
    memory_ids: Sequence[UUID], *, noise_count: int, session_key: str, now: datetime
) -> None:
    """Record that a recall returned these memories, `noise_count` of them below the noise score.

    The only write of its transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            NOTE, [current_workspace_id(), list(memory_ids), noise_count, session_key, now]
        )


log = logging.getLogger(__name__)
RECORDS_A_TURN = 5000

# One statement deletes the records and adds them up, so a crash loses and repeats nothing. It locks
# the memories in the order of their ids, as all writers do, and the day last, because all sweeps of
# a workspace share it.
COUNT = """
    WITH taken AS (
        DELETE FROM memories_recallrecord WHERE id IN (
            SELECT id FROM memories_recallrecord WHERE workspace_id = %(workspace)s
            ORDER BY id LIMIT %(most)s FOR UPDATE SKIP LOCKED
        ) RETURNING id, memory_ids, noise_count, at
    ), counted AS (
        SELECT memory_id, count(DISTINCT taken.id) AS recalls, max(at) AS last
        FROM taken, unnest(memory_ids) AS recalled (memory_id) GROUP BY memory_id
    ), locked AS MATERIALIZED (
        SELECT memory.id FROM memories_memory AS memory
        WHERE memory.id IN (SELECT memory_id FROM counted)
        ORDER BY memory.id FOR NO KEY UPDATE
    ), added AS (
        UPDATE memories_memory AS memory
        SET recall_count = recall_count + recalls,
            last_recalled_at = greatest(last_recalled_at, last)
        FROM counted JOIN locked ON locked.id = counted.memory_id
        WHERE memory.id = counted.memory_id
        RETURNING 1
    ), by_day AS (
        INSERT INTO memories_recallday AS known (workspace_id, day, recalls, returned, noise)
        SELECT %(workspace)s, (at AT TIME ZONE 'UTC')::date, count(*),
            sum(cardinality(memory_ids)), sum(noise_count)
        FROM taken WHERE (SELECT count(*) FROM added) >= 0
        GROUP BY 2 ORDER BY 2
        ON CONFLICT (workspace_id, day) DO UPDATE SET
            recalls = known.recalls + excluded.recalls,
            returned = known.returned + excluded.returned,
            noise = known.noise + excluded.noise
        RETURNING 1
    )
    SELECT count(*) FROM taken
"""


def count_recalls(workspace: Workspace | UUID) -> int:
    """Add one batch of recall records to the counters of memories and days.

    Return the number of records.
    """
    with in_workspace(workspace), connection.cursor() as cursor:
        cursor.execute(COUNT, {"workspace": current_workspace_id(), "most": RECORDS_A_TURN})
        return int(cursor.fetchone()[0])


def find_waiting() -> list[UUID]:
    """Return the ids of workspaces with uncounted recalls, longest waiting first."""
    return list(waiting_since(RecallRecord.objects.all, "at"))


def sweep() -> int:
    """Count all recall records, one batch per workspace in turn; return their number.

    A workspace that fails is logged and left for the next sweep.
    """
    total = 0
    due = find_waiting()
    while due:
        more = []
        for workspace_id in due:
            try:
                counted = count_recalls(workspace_id)
            except Error as error:
                if isinstance(error, DatabaseError) and is_deadlock(error):
                    log.warning("counting recalls met another writer in %s", workspace_id)
                    continue
                log.exception("counting recalls failed in workspace %s", workspace_id)
                continue
            total += counted
            if counted == RECORDS_A_TURN:
                more.append(workspace_id)
        due = more
    return total
