"""Resolve tasks that no note was near to once one is, found by a sweep."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Max, Q

from engram.kernel.embedding import EmbeddingUnavailableError, UnknownTextError
from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.models import Note, NoteChunk
from memories.services.drift.calibrations import calibration_of
from memories.services.drift.resolve import open_tasks, resolve_near
from memories.services.notes.passages import find_passages

log = logging.getLogger(__name__)
A_TURN = 50  # tasks that are compared at once: some seconds
COMPARED = "compared_with"  # in `context`: the state of the notes that the task was compared with


def resolve_answered(workspace: Workspace, *, now: datetime) -> int:
    """Compare open tasks with the notes written since; return how many a note is near to.

    1. Read those not compared with the present notes. 2. Embed and compare, outside a transaction.
    3. Resolve, and keep with the others what they were compared with.
    """
    calibration = calibration_of(workspace.embedding_model)
    if calibration is None or not workspace.config.drift_enabled:
        return 0
    with in_workspace(workspace):
        present = _state_of_notes(workspace.embedding_model)
        rows = [row for row in open_tasks().order_by("pk") if row.context.get(COMPARED) != present]
    near, far = list[UUID](), list[UUID]()
    for row in rows[:A_TURN]:
        try:
            found = find_passages(workspace, row.query, k=1, min_cosine=calibration.low_overlap)
        except UnknownTextError:
            found = []
        except EmbeddingUnavailableError as error:
            log.warning("tasks of workspace %s are not compared yet: %s", workspace.pk, error)
            break
        (near if found else far).append(row.pk)
    with in_workspace(workspace):
        resolve_near(Q(pk__in=near), now=now)
        _keep_compared(far, present)
    return len(near)


def _state_of_notes(model: str) -> str:
    """Return what changes when a note is written or one of its passages embedded."""
    newest = Note.objects.aggregate(newest=Max("updated_at"))["newest"]
    waiting = NoteChunk.objects.filter(embedding=None).count()
    return f"{model} {newest and newest.isoformat()} {waiting}"


def _keep_compared(error_ids: Sequence[UUID], present: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memories_predictionerror SET context = context || %(compared)s::jsonb"
            " WHERE workspace_id = %(workspace)s AND id = ANY(%(ids)s) AND resolved_at IS NULL",
            {
                "compared": json.dumps({COMPARED: present}),
                "workspace": current_workspace_id(),
                "ids": list(error_ids),
            },
        )
