"""Mark which memories are to be compared with the notes that they link.

A row that is due is the work; the task only wakes a worker, and a sweep finds what it left.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet

from engram.kernel import telemetry
from engram.kernel.actors import Actor
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id
from memories.models import MemoryAnswer, Note, NoteSupport
from memories.services.drift.move import may_link
from memories.services.drift.resolve import CHECK_TASK, resolve_unlinked, resolve_updated

TASK = CHECK_TASK
STAGE = "drift"  # of errors that are counted, of checks and of reports
FAILED = "drift_failed"
MAX_ATTEMPTS = 5  # of a check that fails; a change of the note or the memory begins anew

# Follow the links of some memories: a support for each note, none where a link is gone.
_FOLLOW_LINKS = """
    WITH linked AS (
        SELECT DISTINCT memory_id, note_id FROM memories_notelink
        WHERE workspace_id = %(workspace)s AND memory_id = ANY(%(memories)s::uuid[])
            AND note_id IS NOT NULL
    ), gone AS (
        DELETE FROM memories_notesupport AS kept
        WHERE workspace_id = %(workspace)s AND memory_id = ANY(%(memories)s::uuid[])
            AND id <> ALL(%(spared)s)
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
    ON CONFLICT (memory_id, note_id) {known}
    RETURNING 1
"""
# Memories with a new wording: their support is read from the present text of the notes.
_OF_MEMORIES = _FOLLOW_LINKS.replace(
    "{known}",
    """DO UPDATE SET
        support = NULL, note_version = NULL, earlier = NULL, earlier_version = NULL,
        is_drifted = false, evidence = 0, verdict = '{}', still_true_version = NULL,
        due_at = excluded.due_at, attempts = 0""",
)
# Memories whose links lead to other notes than before, without a change of their wording.
_OF_LINKS = _FOLLOW_LINKS.replace("{known}", "DO NOTHING")
# Memories that link a changed note, or lean on it by a link that is ambiguous now. Its earlier text
# is kept while nobody has read the support.
_OF_NOTE = """
    WITH linked AS (
        SELECT DISTINCT memory_id FROM memories_notelink
        WHERE workspace_id = %(workspace)s AND note_id = %(note)s AND memory_id IS NOT NULL
        UNION
        SELECT memory_id FROM memories_notesupport
        WHERE workspace_id = %(workspace)s AND note_id = %(note)s
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
    sender: Any,
    *,
    actor: Actor,
    now: datetime,
    memory_ids: Collection[UUID] = (),
    created: Collection[UUID] = (),
    reworded: Collection[UUID] = (),
    respelled: Collection[UUID] = (),
    linking: Collection[UUID] = (),
    **_: Any,
) -> None:
    """Mark new wordings that link notes; resolve the errors about the former wordings.

    A repeated statement, another spelling or new answers say nothing else: what is known about it
    stays, and new answers are looked for, too.
    """
    if linking:
        _mark(_OF_MEMORIES, {"memories": sorted(linking), "spared": []}, now)
    links_changed(respelled, now=now)
    answers_changed({*memory_ids} - {*created} - {*linking}, now=now)
    if reworded:
        resolve_updated(reworded, actor=actor, now=now)


def note_changed(note: Note, *, earlier: str | None, earlier_version: int, now: datetime) -> None:
    """Mark the memories that link a changed note; `earlier` is its old text, None of a new note."""
    given = {"note": note.pk, "earlier": earlier, "version": earlier_version}
    _mark(_OF_NOTE, given, now)


def answers_changed(memory_ids: Collection[UUID], *, now: datetime) -> None:
    """Mark memories that may have other answers; a check reads where a note gives them."""
    if memory_ids:
        told = Exists(MemoryAnswer.objects.filter(memory=OuterRef("memory")))
        mark_due(NoteSupport.objects.filter(told, memory__in=list(memory_ids)), now=now)


def mark_due(supports: QuerySet[NoteSupport], *, now: datetime, **changed: Any) -> None:
    """Mark supports to be checked, with other changed fields; all are locked first, in order."""
    held = [row.pk for row in lock_supports(supports.only("pk"))]
    if held:
        NoteSupport.objects.filter(pk__in=held).update(due_at=now, attempts=0, **changed)
        wake(TASK, current_workspace_id())


def lock_supports(supports: QuerySet[NoteSupport]) -> list[NoteSupport]:
    """Lock supports by memory and note, the order of all writers, and return them so."""
    held = supports.select_for_update(of=("self",), no_key=True)
    return list(held.order_by("memory_id", "note_id"))


def links_changed(memory_ids: Collection[UUID], *, now: datetime) -> None:
    """Mark memories whose links now lead to other notes; what they lean on elsewhere is kept.

    So is what they lean on in a note that a link may still mean (`move.py`).
    """
    if memory_ids:
        mine = NoteSupport.objects.filter(may_link(), memory__in=list(memory_ids))
        spared = list(mine.order_by().values_list("pk", flat=True))
        _mark(_OF_LINKS, {"memories": sorted(memory_ids), "spared": spared}, now)
        resolve_unlinked(memory_ids, now=now)


def select_due() -> QuerySet[NoteSupport]:
    """Return the supports to check; not those whose check has failed too often."""
    return NoteSupport.objects.filter(due_at__isnull=False, attempts__lt=MAX_ATTEMPTS)


def record_failure(workspace: Workspace, error: Exception, now: datetime) -> None:
    """Count a check or a report that failed."""
    telemetry.record_error(STAGE, FAILED, detail=type(error).__name__, now=now, workspace=workspace)


def _mark(statement: str, parameters: dict[str, Any], now: datetime) -> None:
    workspace_id = current_workspace_id()
    with connection.cursor() as cursor:
        cursor.execute(statement, {"workspace": workspace_id, "now": now, **parameters})
        if cursor.fetchone() is not None:
            wake(TASK, workspace_id)
