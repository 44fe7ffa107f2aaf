"""Counting recalls: sums recorded recalls into the counters, each exactly once."""

from __future__ import annotations

from django.db import connection

from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id, in_workspace

RECORDS_A_TURN = 5000


def count_recalls(workspace: Workspace) -> int:
    """Add recorded recalls to the counters of their memories; return how many records went in.

    One statement takes the records away and adds them up, so a crash neither loses nor doubles. It
    locks the memories in the order of their ids, as all writers do.
    """
    with in_workspace(workspace), connection.cursor() as cursor:
        cursor.execute(
            """
            WITH taken AS (
                DELETE FROM memories_recallrecord WHERE id IN (
                    SELECT id FROM memories_recallrecord WHERE workspace_id = %s
                    ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
                ) RETURNING memory_ids, at
            ), counted AS (
                SELECT memory_id, count(*) AS recalls, max(at) AS last
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
            )
            SELECT count(*) FROM taken
            """,
            [current_workspace_id(), RECORDS_A_TURN],
        )
        return int(cursor.fetchone()[0])
