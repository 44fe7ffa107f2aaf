"""Write the recall log: one insert per recall, added to the counters later exactly once."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import DatabaseError, Error, connection

from engram.kernel.collisions import is_deadlock
from engram.kernel.due import waiting_since
from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.core.co_recall import HALF_LIFE_DAYS, LEADING, PAIRS_KEPT, STEP
from memories.models import RecallRecord

HALF_LIFE = HALF_LIFE_DAYS * 86_400.0  # seconds
ORIGIN = datetime(2020, 1, 1, tzinfo=UTC)  # of the times at which pairs are compared

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
COUNT = f"""
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
    ), together AS (
        SELECT one.id AS first_id, other.id AS second_id,
            count(DISTINCT taken.id) AS times, min(at) AS since, max(at) AS last
        FROM taken, unnest(memory_ids[1:{LEADING}]) AS one (id),
            unnest(memory_ids[1:{LEADING}]) AS other (id)
        WHERE one.id < other.id
            AND one.id IN (SELECT id FROM locked) AND other.id IN (SELECT id FROM locked)
        GROUP BY 1, 2
    ), reinforced AS (
        INSERT INTO memories_corecall AS known
            (workspace_id, first_id, second_id, weight, since, reinforced_at)
        SELECT %(workspace)s, first_id, second_id, times * {STEP}, since, last FROM together
        ORDER BY first_id, second_id
        ON CONFLICT (workspace_id, first_id, second_id) DO UPDATE SET
            weight = excluded.weight + known.weight * exp(-ln(2) * greatest(0, extract(
                epoch FROM excluded.reinforced_at - known.reinforced_at)) / {HALF_LIFE}),
            reinforced_at = greatest(known.reinforced_at, excluded.reinforced_at)
        RETURNING first_id, second_id
    )
    SELECT count(*), (SELECT array_agg(first_id) || array_agg(second_id) FROM reinforced) FROM taken
"""  # noqa: S608  constants

# A memory keeps its strongest pairs; of equal ones those with the smaller ids.
WEAKEST = """
    DELETE FROM memories_corecall AS pair
    USING unnest(%(ids)s::uuid[]) AS here (id) CROSS JOIN LATERAL (
        SELECT first_id, second_id FROM memories_corecall
        WHERE workspace_id = %(workspace)s AND (first_id = here.id OR second_id = here.id)
        ORDER BY weight * exp(ln(2) * extract(epoch FROM reinforced_at - %(origin)s)
            / %(half_life)s) DESC, first_id, second_id
        OFFSET %(kept)s
    ) AS weak
    WHERE pair.workspace_id = %(workspace)s
        AND pair.first_id = weak.first_id AND pair.second_id = weak.second_id
"""


def count_recalls(workspace: Workspace | UUID) -> int:
    """Add one batch of recall records to the counters of memories and days, and to pairs of both.

    Return the number of records.
    """
    with in_workspace(workspace), connection.cursor() as cursor:
        values: dict[str, Any] = {
            "workspace": current_workspace_id(),
            "most": RECORDS_A_TURN,
            "half_life": HALF_LIFE,
            "origin": ORIGIN,
            "kept": PAIRS_KEPT,
        }
        cursor.execute(COUNT, values)
        counted, reinforced = cursor.fetchone()
        if reinforced:
            cursor.execute(WEAKEST, values | {"ids": sorted(set(reinforced))})
        return int(counted)


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
