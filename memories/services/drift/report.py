"""Report drift when memories are given to an agent, by what was checked before.

Recall, session start and context all call `report_drift` once their answer is made. It runs within
a savepoint and never raises: an error is counted and the answer stands. It writes nothing while no
returned memory has drifted. What was given before the check of a changed note is reported by the
check (`report_served`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from engram.kernel.actors import SYSTEM
from engram.kernel.binary import pack_ids, prepared_cursor
from engram.kernel.collisions import retry_on_collision
from engram.kernel.history import record_each
from engram.kernel.ids import next_ids
from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.core.drift.pointers import PROMOTED
from memories.models.drift import DRIFT_SOURCE, ErrorSeverity, ErrorType
from memories.services.drift.due import record_failure
from memories.services.recallable import recallable_condition

log = logging.getLogger(__name__)
FOUND = "drift.found"

# The stronger signal stays, and so does that of the newest version of the note. Whoever joins a
# signal is added to `by`: its author of before still has a signal that waits.
UPSERT = """
    ON CONFLICT (workspace_id, error_type, memory_id, note_id, source) WHERE resolved_at IS NULL
    DO UPDATE SET
        last_seen_at = greatest(kept.last_seen_at, excluded.last_seen_at),
        occurrences = kept.occurrences + 1,
        queries = CASE WHEN excluded.queries <@ kept.queries THEN kept.queries
            ELSE (kept.queries || excluded.queries)[1:20] END,
        weight = CASE WHEN {is_stronger} THEN excluded.weight ELSE kept.weight END,
        cosine_distance = CASE WHEN {is_stronger} THEN excluded.cosine_distance
            ELSE kept.cosine_distance END,
        query = CASE WHEN {is_stronger} THEN excluded.query ELSE kept.query END,
        context = CASE WHEN {is_stronger} THEN excluded.context ELSE kept.context END
            || CASE WHEN (excluded.context->'by') IS NULL THEN '{{}}'::jsonb
                WHEN (kept.context->'by') @> (excluded.context->'by')
                    THEN jsonb_build_object('by', kept.context->'by')
                ELSE jsonb_build_object(
                    'by', coalesce(kept.context->'by', '[]') || (excluded.context->'by')
                ) END,
        severity = CASE WHEN {is_stronger} THEN excluded.severity ELSE kept.severity END,
        note_version = CASE WHEN {is_stronger} THEN excluded.note_version
            ELSE kept.note_version END
    RETURNING id, error_type, occurrences = 1 AS is_new
""".format(
    is_stronger="(excluded.note_version IS DISTINCT FROM kept.note_version"
    " OR (excluded.weight, coalesce(excluded.cosine_distance, 0))"
    " >= (kept.weight, coalesce(kept.cosine_distance, 0)))"
)
COLUMNS = """
    INSERT INTO memories_predictionerror AS kept (
        id, workspace_id, error_type, memory_id, note_id, note_path, note_version, source, query,
        queries, cosine_distance, context, weight, detected_at, last_seen_at, occurrences,
        resolution, resolved_by, resolution_note, severity
    )
"""
# What is locked cannot be deleted, forgotten or checked anew before the errors are committed: a
# note that is deleted in between would fail the answer at its commit. What another transaction has
# locked is about to change, and is left out; an answer never waits for it.
_LOCK = """
    SELECT support.id
    FROM memories_notesupport AS support
    JOIN memories_note AS note ON note.id = support.note_id
    JOIN memories_memory AS memory ON memory.id = support.memory_id
    WHERE support.workspace_id = %(workspace)s AND {which} AND support.is_drifted
        AND support.checked_version = note.version
        AND support.checked_hash = memory.content_hash
        AND NOT EXISTS (
            SELECT FROM memories_memorytag AS tagged
            WHERE tagged.memory_id = support.memory_id AND tagged.tag = %(promoted)s
        )
    ORDER BY support.memory_id, support.note_id
    LIMIT %(most)s
    FOR SHARE OF support, memory SKIP LOCKED
    FOR KEY SHARE OF note SKIP LOCKED
"""
_LOCK_DRIFTED = _LOCK.format(which="support.memory_id = ANY(%(memories)s::uuid[])")
# Supports of memories that were given since memory and note are as they are: by a recall, counted
# or not, a context that is kept, a session's start, or a prompt (the first of a session that
# matched, and all that are kept); but not those of which an error says so already.
_SERVED = """support.id = ANY(%(supports)s::bigint[]) AND NOT EXISTS (
            SELECT FROM memories_predictionerror AS known
            WHERE known.workspace_id = %(workspace)s AND known.error_type = %(type)s
                AND known.memory_id = support.memory_id AND known.note_id = support.note_id
                AND (known.resolved_at IS NULL OR known.last_seen_at >= note.updated_at)
        ) AND (
            memory.last_recalled_at >= greatest(note.updated_at, memory.updated_at)
            OR EXISTS (
                SELECT FROM memories_recallrecord AS waiting
                WHERE waiting.workspace_id = %(workspace)s
                    AND waiting.at >= greatest(note.updated_at, memory.updated_at)
                    AND memory.id = ANY(waiting.memory_ids)
            ) OR EXISTS (
                SELECT FROM memories_pastresult AS past
                WHERE past.workspace_id = %(workspace)s AND past.memory_id = memory.id
                    AND past.at >= greatest(note.updated_at, memory.updated_at)
            ) OR EXISTS (
                SELECT FROM memories_sessioncandidate AS given
                WHERE given.workspace_id = %(workspace)s AND given.memory_id = memory.id
                    AND given.created_at >= greatest(note.updated_at, memory.updated_at)
                    AND (given.was_injected OR given.fts_hit_count > 0)
            ) OR EXISTS (
                SELECT FROM memories_sessioncandidate AS matched
                JOIN memories_sessionprompt AS prompt ON prompt.session_id = matched.session_id
                WHERE matched.workspace_id = %(workspace)s AND matched.memory_id = memory.id
                    AND prompt.at >= greatest(note.updated_at, memory.updated_at)
                    AND memory.id = ANY(prompt.memory_ids)
            )
        )"""
_LOCK_MISSED = _LOCK.format(which=_SERVED)
# A check waits for who holds such a memory.
_LOCK_SERVED = _LOCK_MISSED.replace(" SKIP LOCKED", "")
# Each support with the id of a new error, in the order in which they are locked; those whose memory
# cannot be recalled any more are left out. A recall has switched sorting off: an order by columns
# of the table would read all of its index.
_DRIFTED = """
    SELECT given.id, %(workspace)s, %(type)s, support.memory_id, note.id, note.path, note.version,
        %(source)s, 'memory:' || support.memory_id, '{{}}'::text[], support.distance,
        jsonb_build_object('origin', %(origin)s::text) || (
            support.verdict - '{{bearing,severity}}'::text[]
        ),
        least(support.evidence, 1.0), %(now)s, %(now)s, 1, '', '', '',
        coalesce(nullif(support.verdict->>'severity', ''), %(severity)s)
    FROM unnest(%(supports)s::bigint[], %(ids)s::uuid[])
        WITH ORDINALITY AS given (support_id, id, number)
    JOIN memories_notesupport AS support ON support.id = given.support_id
    JOIN memories_note AS note ON note.id = support.note_id
    WHERE support.workspace_id = %(workspace)s AND EXISTS (
        SELECT FROM memories_memory WHERE id = support.memory_id AND {recallable}
    )
    ORDER BY given.number
"""
MOST_PAIRS = 100  # of one answer


def report_drift(
    workspace: Workspace, memory_ids: Sequence[UUID], *, origin: str, now: datetime
) -> None:
    """Upsert an error for each of these memories that a note no longer carries.

    `origin` is recall, context, session_start or prompt. Runs in the transaction of the answer.
    """
    if memory_ids and workspace.config.drift_enabled:
        within_savepoint(lambda: _report(memory_ids, origin, now), workspace, now)


def within_savepoint(work: Callable[[], object], workspace: Workspace, now: datetime) -> None:
    """Do something beside an answer: an error undoes it alone, and is counted."""
    try:
        with transaction.atomic():
            work()
    except Exception as error:
        log.exception("reporting prediction errors failed")
        record_failure(workspace, error, now)


@retry_on_collision
def report_served(
    workspace: Workspace, support_ids: Sequence[int], *, now: datetime, waits: bool = True
) -> None:
    """Open an error for each drifted support whose memory was given before this was known.

    In a transaction of its own, after that of the check. The same again changes nothing. Without
    `waits`, what another transaction holds is left out.
    """
    if support_ids and workspace.config.drift_enabled:
        with in_workspace(workspace):
            given = {"supports": sorted(support_ids), "type": ErrorType.MEMORY_DRIFT.value}
            _open(_lock(_LOCK_SERVED if waits else _LOCK_MISSED, given), "check", now)


def _report(memory_ids: Sequence[UUID], origin: str, now: datetime) -> None:
    _open(_lock(_LOCK_DRIFTED, {"memories": pack_ids(memory_ids)}), origin, now)


def _open(support_ids: Sequence[int], origin: str, now: datetime) -> None:
    if not support_ids:
        return
    recallable = recallable_condition(now)
    upsert(
        COLUMNS + _DRIFTED.format(recallable=recallable.sql) + UPSERT,
        recallable.parameters
        | {
            "supports": support_ids,
            "ids": next_ids(len(support_ids)),
            "type": ErrorType.MEMORY_DRIFT.value,
            "source": DRIFT_SOURCE,
            "origin": origin,
            "severity": ErrorSeverity.MEDIUM.value,  # of what was checked before it was rated
        },
        now,
    )


def _lock(statement: str, which: dict[str, Any]) -> list[int]:
    """Lock drifted supports; return their keys in order."""
    given = {"workspace": current_workspace_id(), "promoted": PROMOTED, "most": MOST_PAIRS, **which}
    with prepared_cursor() as cursor:
        cursor.execute(statement, given)
        return [support_id for (support_id,) in cursor.fetchall()]


def upsert(statement: str, parameters: dict[str, Any], now: datetime) -> list[UUID]:
    """Run an upsert of errors; announce the new ones; return the ids of all."""
    given = {"workspace": current_workspace_id(), "now": now, **parameters}
    with prepared_cursor() as cursor:
        cursor.execute(statement, given)
        rows = cursor.fetchall()
    new = (
        (error_id, {"error_type": error_type}) for error_id, error_type, is_new in rows if is_new
    )
    record_each(FOUND, new, of="prediction_error", actor=SYSTEM, now=now)
    return [error_id for error_id, _, _ in rows]


def as_json(value: Any) -> str:
    """Return a value as a parameter for a column of JSON."""
    return json.dumps(value)
