"""Give the wordings of one question one group, by which the workspace knows it."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import connection

from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id, in_workspace

# The group of a question is that of its oldest row. A wording moves to the group of another one
# only while its own group has no third, so that groups neither split nor merge: that is looked up
# once for a wording and its group, however many rows have both. Rows that are being written are
# skipped: what changes a memory makes it due again.
_JOIN = """
    WITH wanted AS (
        SELECT * FROM unnest(%(wordings)s::text[], %(known)s::text[])
            AS pair (question_hash, known_hash)
    ), target AS MATERIALIZED (
        SELECT DISTINCT ON (question_hash) question_hash, question_group
        FROM memories_memoryanswer
        WHERE workspace_id = %(workspace)s AND question_hash = ANY(%(known)s)
        ORDER BY question_hash, id
    ), leaving AS MATERIALIZED (
        SELECT DISTINCT own.question_hash, own.question_group, target.question_group AS joined,
            wanted.question_hash = wanted.known_hash AS is_known
        FROM wanted
        JOIN target ON target.question_hash = wanted.known_hash
        JOIN memories_memoryanswer AS own ON own.question_hash = wanted.question_hash
        WHERE own.workspace_id = %(workspace)s AND own.question_group <> target.question_group
    ), free AS MATERIALIZED (
        SELECT question_hash, question_group, joined FROM leaving
        WHERE is_known OR NOT EXISTS (
            SELECT FROM memories_memoryanswer AS other
            WHERE other.workspace_id = %(workspace)s
                AND other.question_group = leaving.question_group
                AND other.question_hash <> leaving.question_hash
        )
    ), moving AS MATERIALIZED (
        SELECT own.id, free.joined FROM free
        JOIN memories_memoryanswer AS own USING (question_hash, question_group)
        WHERE own.workspace_id = %(workspace)s
        FOR NO KEY UPDATE OF own SKIP LOCKED
    )
    UPDATE memories_memoryanswer AS own SET question_group = moving.joined
    FROM moving WHERE own.id = moving.id
"""


def join_wordings(workspace: Workspace, wordings: Mapping[str, str]) -> int:
    """Move the answers to questions into the groups of known ones; return how many moved.

    `wordings` maps a question to the known one that it is a wording of, both by hash; a question
    that is mapped to itself gathers the rows that were written since it joined a group. The same
    call again moves nothing.
    """
    if not wordings:
        return 0
    with in_workspace(workspace), connection.cursor() as cursor:
        cursor.execute(
            _JOIN,
            {
                "workspace": current_workspace_id(),
                "wordings": list(wordings),
                "known": list(wordings.values()),
            },
        )
        return int(cursor.rowcount)
