"""Mark which memories are to be compared with the notes that they link.

A row that is due is the work; the task only wakes a worker, and a sweep finds what it left.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id
from memories.models import Note, NoteSupport
from memories.services.drift.resolve import resolve_unlinked, resolve_updated

TASK = "memories.check_notes"
MAX_ATTEMPTS = 5  # of a check that fails; a change of the note or the memory begins anew

# Memories that link a note, or did until now: their support is read from its present text.
_OF_MEMORIES = """
    WITH linked AS (
        SELECT DISTINCT memory_id, note_id FROM memories_notelink
        WHERE workspace_id = %(workspace)s AND memory_id = ANY(%(memories)s::uuid[])
            AND note_id IS NOT NULL
    ), gone AS (
        DELETE FROM memories_notesupport AS kept
        WHERE workspace_id = %(workspace)s AND memory_id = ANY(%(memories)s::uuid[])
            AND NOT EXISTS (
                SELECT FROM linked
                WHERE linked.memory_id = kept.memory_id AND linked.note_id = kept.note_id
            )
    )
    INSERT INTO memories_notesupport AS kept (
        workspace_id, memory_id, note_id, model, checked_hash, is_drifted, evidence, verdict,
        due_at, attempts
    )
    SELECT %(workspace)s, memory_id, note_id, '', '', false, 0, '{}', %(now)s, 0 FROM linked
    ORDER BY memory_id, note_id
    ON CONFLICT (memory_id, note_id) DO UPDATE SET
        support = NULL, note_version = NULL, earlier = NULL, earlier_version = NULL,
        is_drifted = false, evidence = 0, verdict = '{}', still_true_version = NULL,
        due_at = excluded.due_at, attempts = 0
    RETURNING 1
"""
# Memories whose links lead to other notes than before, without a change of their wording.
_OF_LINKS = """
    WITH linked AS (
        SELECT DISTINCT memory_id, note_id FROM memories_notelink
        WHERE workspace_id = %(workspace)s AND memory_id = ANY(%(memories)s::uuid[])
            AND note_id IS NOT NULL
    ), gone AS (
        DELETE FROM memories_notesupport AS kept
        WHERE workspace_id = %(workspace)s AND memory_id = ANY(%(memories)s::uuid[])
            AND NOT EXISTS (
                SELECT FROM linked
                WHERE linked.memory_id = kept.memory_id AND linked.note_id = kept.note_id
            )
    )
    INSERT INTO memories_notesupport AS kept (
        workspace_id, memory_id, note_id, model, checked_hash, is_drifted, evidence, verdict,
        due_at, attempts
    )
    SELECT %(workspace)s, memory_id, note_id, '', '', false, 0, '{}', %(now)s, 0 FROM linked
    ORDER BY memory_id, note_id
    ON CONFLICT (memory_id, note_id) DO NOTHING
    RETURNING 1
"""
# Memories that link a changed note. Of supports that nobody has read yet, its earlier text is kept.
_OF_NOTE = """
    WITH linked AS (
        SELECT DISTINCT memory_id FROM memories_notelink
        WHERE workspace_id = %(workspace)s AND note_id = %(note)s AND memory_id IS NOT NULL
    )
    INSERT INTO memories_notesupport AS kept (
        workspace_id, memory_id, note_id, model, checked_hash, is_drifted, evidence, verdict,
        due_at, attempts
    )
    SELECT %(workspace)s, memory_id, %(note)s, '', '', false, 0, '{}', %(now)s, 0 FROM linked
    ORDER BY memory_id
    ON CONFLICT (memory_id, note_id) DO UPDATE SET
        earlier = CASE WHEN kept.support IS NULL AND kept.earlier IS NULL
            THEN %(earlier)s ELSE kept.earlier END,
        earlier_version = CASE WHEN kept.support IS NULL AND kept.earlier IS NULL
            THEN %(version)s ELSE kept.earlier_version END,
        due_at = excluded.due_at, attempts = 0
    RETURNING 1
"""


def note_written(
    sender: Any, *, workspace: Workspace, memory_ids: Sequence[UUID], now: datetime, **_: Any
) -> None:
    """Mark written memories that link notes; resolve the errors about their former wording."""
    resolve_updated(memory_ids, now=now)
    _mark(_OF_MEMORIES, {"memories": list(memory_ids)}, now)


def note_changed(
    note: Note, *, earlier: str | None, earlier_version: int | None, now: datetime
) -> None:
    """Mark the memories that link a note whose text or names changed; `earlier` is its old text."""
    _mark(_OF_NOTE, {"note": note.pk, "earlier": earlier, "version": earlier_version}, now)


def links_changed(memory_ids: Collection[UUID], *, now: datetime) -> None:
    """Mark memories whose links now lead to other notes; what they lean on elsewhere is kept."""
    if memory_ids:
        resolve_unlinked(memory_ids, now=now)
        _mark(_OF_LINKS, {"memories": sorted(memory_ids)}, now)


def select_due() -> QuerySet[NoteSupport]:
    """Return the supports to check; not those whose check has failed too often."""
    return NoteSupport.objects.filter(due_at__isnull=False, attempts__lt=MAX_ATTEMPTS)


def _mark(statement: str, parameters: dict[str, Any], now: datetime) -> None:
    workspace_id = current_workspace_id()
    with connection.cursor() as cursor:
        cursor.execute(statement, {"workspace": workspace_id, "now": now, **parameters})
        if cursor.fetchone() is not None:
            wake(TASK, workspace_id)
