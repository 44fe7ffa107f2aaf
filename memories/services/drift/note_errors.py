"""Record that no note fits a task, or only one of another context and weakly.

Such an error is listed once two distinct queries have met it, and changes no ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from uuid import UUID

from engram.kernel.credentials import without_credentials
from engram.kernel.ids import next_id
from engram.kernel.models import Workspace
from memories.core.content import normalise_quote
from memories.core.drift.calibration import calibration_of
from memories.models.drift import DRIFT_SOURCE, ErrorType
from memories.services.drift.report import COLUMNS, UPSERT, as_json, upsert, within_savepoint

QUERY_KEPT_CHARS = 500
# A note that was deleted since its passage was found would fail the answer at its commit.
_NOTE_ERROR = f"""
    WITH held AS (
        SELECT id FROM memories_note WHERE workspace_id = %(workspace)s AND id = %(note)s
        FOR KEY SHARE SKIP LOCKED
    )
    {COLUMNS}
    SELECT %(id)s::uuid, %(workspace)s, %(type)s, NULL::uuid, id, %(path)s, NULL::integer,
        %(source)s, %(query)s, %(queries)s::text[], %(distance)s, %(context)s::jsonb, %(weight)s,
        %(now)s, %(now)s, 1, '', '', ''
    FROM held
    {UPSERT}
"""  # noqa: S608  names only


@dataclass(frozen=True, slots=True)
class NearNote:
    """The nearest passage of a note to a task, with its cosine."""

    note_id: UUID
    path: str
    heading: str
    cosine: float


def report_notes(
    workspace: Workspace, task: str, project: str, near: Sequence[NearNote], *, now: datetime
) -> None:
    """Record errors about the notes that a task met; `near` are the nearest passages, best first.

    Runs in the transaction of the answer, and never raises.
    """
    calibration = calibration_of(workspace.embedding_model)
    if not near or calibration is None or not workspace.config.drift_enabled:
        return
    best = near[0]
    if best.cosine < calibration.low_overlap:
        found = [(ErrorType.LOW_OVERLAP, best)]
    else:
        weak = [
            one for one in near if one.cosine < calibration.weak and is_elsewhere(one.path, project)
        ]
        found = [(ErrorType.CONTEXTUAL_MISMATCH, one) for one in weak[:1]]
    for error_type, one in found:
        within_savepoint(
            lambda error_type=error_type, one=one: _record(error_type, one, task, project, now),  # type: ignore[misc]
            workspace,
            now,
        )


def is_elsewhere(path: str, project: str) -> bool:
    """Return whether a note lies outside the folder of the project that was asked for."""
    wanted = project.strip("/").casefold()
    folders = path.casefold().split("/")[:-1]
    return bool(wanted) and bool(folders) and not set(wanted.split("/")) & set(folders)


def _record(error_type: ErrorType, near: NearNote, task: str, project: str, now: datetime) -> None:
    digest = blake2b(normalise_quote(task).encode(), digest_size=8).hexdigest()
    upsert(
        _NOTE_ERROR,
        {
            "id": next_id(),
            "type": error_type.value,
            "note": near.note_id,
            "path": near.path,
            "source": DRIFT_SOURCE,
            "query": without_credentials(task)[0][:QUERY_KEPT_CHARS],
            "queries": [digest],
            "distance": 1.0 - near.cosine,
            "context": as_json(
                {"heading": near.heading, "project": without_credentials(project)[0]}
            ),
            "weight": min(1.0, max(0.0, 1.0 - near.cosine)),
        },
        now,
    )
