"""Queue memories for detection: a row in the writing transaction, then a wake-up."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.refusals import MissingError
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.models import Memory

DETECT_TASK = "conflicts.detect_workspace"


def note_written_if_enabled(
    sender: Any, *, workspace: Workspace, is_detected: bool = True, **written: Any
) -> None:
    """Queue written memories, unless detection is disabled in the workspace or for this commit."""
    if is_detected and workspace.config.detection_enabled:
        note_written(sender, **written)


def note_written(
    sender: Any,
    *,
    memory_ids: Sequence[UUID],
    first_in_line: Collection[UUID] = (),
    now: datetime,
    **_: Any,
) -> None:
    """Queue memories for detection, by the last statements of the writing transaction.

    The second statement locks the workspace's lease row, so that a runner that is about to release
    the lease waits for this transaction.
    """
    workspace_id = current_workspace_id()
    ordered = sorted(set(memory_ids))
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO conflicts_detectiondue AS kept
                (workspace_id, memory_id, turn, is_first_in_line, since, attempts)
            SELECT %s, memory_id, 1, memory_id = ANY(%s::uuid[]), %s, 0
            FROM unnest(%s::uuid[]) AS written (memory_id) ORDER BY memory_id
            ON CONFLICT (memory_id) DO UPDATE SET turn = kept.turn + 1,
                attempts = 0, not_before = NULL, awaits = 'all',
                is_first_in_line = kept.is_first_in_line OR excluded.is_first_in_line;
            INSERT INTO conflicts_detectionlease AS kept (workspace_id, due_at)
            VALUES (%s, %s)
            ON CONFLICT (workspace_id)
            DO UPDATE SET due_at = least(kept.due_at, excluded.due_at)
            RETURNING due_at = %s
            """,
            [workspace_id, list(first_in_line), now, ordered, workspace_id, now, now],
        )
        cursor.nextset()
        (is_newly_due,) = cursor.fetchone()
    if is_newly_due:  # else a wake-up is pending or a runner is active: one wake-up per burst
        wake(DETECT_TASK, workspace_id)


def note_revived(sender: Any, *, memory_ids: Sequence[UUID], now: datetime, **_: Any) -> None:
    """Queue memories that became live again: they may contradict later ones.

    They are due since the current time, not since `now`, which may lie in the past (an import).
    """
    if Workspace.objects.get(pk=current_workspace_id()).config.detection_enabled:
        note_written(sender, memory_ids=memory_ids, now=timezone.now())


def queue_memories(workspace: Workspace, memory_id: UUID | None, *, now: datetime) -> int:
    """Queue one memory, or all live ones, to be read again; return the number."""
    with in_workspace(workspace):
        recallable = Memory.objects.recallable(now)
        if memory_id is not None:
            recallable = recallable.filter(pk=memory_id)
        ids = list(recallable.values_list("pk", flat=True))
        if memory_id is not None and not ids:
            raise MissingError("There is no such memory.")
        if ids:
            note_written(Memory, memory_ids=ids, now=now)
    return len(ids)
