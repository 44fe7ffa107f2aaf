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
    INSERT INTO memories_recallrecord
        (workspace_id, memory_ids, leading_ids, noise_count, session_key, kept, at)
    SELECT %s, %s::uuid[], %s::uuid[], %s, %s, %s::jsonb, %s FROM unhurried
"""
NOTE_UNCOUNTED = """
    INSERT INTO memories_recallrecord (workspace_id, memory_ids, session_key, kept, at, is_counted,
        noise_count)
    VALUES (%s, %s::uuid[], '', %s::jsonb, %s, false, 0)
"""


def note_recall(
    memory_ids: Sequence[UUID],
    *,
    relevant: Sequence[UUID],
    noise_count: int,
    session_key: str,
    kept: str | None = None,
    now: datetime,
) -> None:
    """Record that a recall returned these memories, `noise_count` of them below the noise score.

    The first of `relevant` are counted as recalled together: whatever a query without a cut returns
    besides, it says nothing of what belongs together.
    `kept` is what stays of it for those who look back (`describe_recall`), None for nothing. The
    only write of its transaction.
    """
    with connection.cursor() as cursor:
        ids, leading = list(memory_ids), list(relevant[:LEADING])
        cursor.execute(
            NOTE, [current_workspace_id(), ids, leading, noise_count, session_key, kept, now]
        )


def note_context(memory_ids: Sequence[UUID], *, kept: str, now: datetime) -> None:
    """Record what stays of a context, which counts as no recall; in the context's transaction."""
    with connection.cursor() as cursor:
        cursor.execute(NOTE_UNCOUNTED, [current_workspace_id(), list(memory_ids), kept, now])


log = logging.getLogger(__name__)
RECORDS_A_TURN = 5000
RECALLS_KEPT = 5000  # the newest of a workspace

# One statement deletes the records and adds them up, so a crash loses and repeats nothing. It locks
# the memories in the order of their ids, as all writers do, and the day last, because all sweeps of
# a workspace share it.
COUNT = f"""
    WITH taken AS (
        DELETE FROM memories_recallrecord WHERE id IN (
            SELECT id FROM memories_recallrecord WHERE workspace_id = %(workspace)s
            ORDER BY id LIMIT %(most)s FOR UPDATE SKIP LOCKED
        ) RETURNING id, memory_ids, leading_ids, noise_count, at, is_counted, kept, session_key,
            (kept ->> 'id')::uuid AS past_id
    ), counted AS (
        SELECT memory_id, count(DISTINCT taken.id) AS recalls, max(at) AS last
        FROM taken, unnest(memory_ids) AS recalled (memory_id) WHERE is_counted GROUP BY memory_id
    ), locked AS MATERIALIZED (
        SELECT memory.id FROM memories_memory AS memory
        WHERE memory.id IN (SELECT unnest(memory_ids) FROM taken)
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
        FROM taken WHERE is_counted AND (SELECT count(*) FROM added) >= 0
        GROUP BY 2 ORDER BY 2
        ON CONFLICT (workspace_id, day) DO UPDATE SET
            recalls = known.recalls + excluded.recalls,
            returned = known.returned + excluded.returned,
            noise = known.noise + excluded.noise
        RETURNING 1
    ), together AS (
        SELECT one.id AS first_id, other.id AS second_id,
            count(DISTINCT taken.id) AS times, min(at) AS since, max(at) AS last
        FROM taken, unnest(leading_ids) AS one (id), unnest(leading_ids) AS other (id)
        WHERE is_counted AND one.id < other.id
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
    ), past AS (
        INSERT INTO memories_pastrecall (id, workspace_id, origin, query, query_hash, k, asked,
            returned, caller, session_key, at)
        SELECT past_id, %(workspace)s, kept ->> 'origin', kept ->> 'query', kept ->> 'hash',
            (kept ->> 'k')::smallint, kept -> 'asked', jsonb_array_length(kept -> 'results'),
            kept ->> 'caller', session_key, at
        FROM taken WHERE jsonb_typeof(kept) = 'object'
        RETURNING 1
    ), results AS (
        INSERT INTO memories_pastresult (workspace_id, recall_id, memory_id, rank, score, relevance,
            factors, at)
        SELECT %(workspace)s, past_id, (one ->> 0)::uuid, (one ->> 1)::smallint,
            (one ->> 2)::double precision, (one ->> 3)::double precision, one -> 4, at
        FROM taken, jsonb_array_elements(kept -> 'results') AS one
        WHERE (one ->> 0)::uuid IN (SELECT id FROM locked)
    )
    SELECT count(*), (SELECT array_agg(first_id) || array_agg(second_id) FROM reinforced),
        (SELECT count(*) FROM past)
    FROM taken
"""  # noqa: S608  constants

# The newest recalls stay; a memory's results go with their recall.
OLDEST = """
    WITH gone AS (
        DELETE FROM memories_pastrecall WHERE id IN (
            SELECT id FROM memories_pastrecall WHERE workspace_id = %(workspace)s
            ORDER BY at DESC, id DESC OFFSET %(most)s
        ) RETURNING id
    )
    DELETE FROM memories_pastresult AS result USING gone WHERE result.recall_id = gone.id
"""

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

    What is kept of a recall becomes a `PastRecall`. Return the number of records.
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
        counted, reinforced, past = cursor.fetchone()
        if reinforced:
            cursor.execute(WEAKEST, values | {"ids": sorted(set(reinforced))})
        if past:
            cursor.execute(OLDEST, values | {"most": RECALLS_KEPT})
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
