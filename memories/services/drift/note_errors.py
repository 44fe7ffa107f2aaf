"""Record that no note fits a task, or only one of another context and weakly.

Such an error is listed once two distinct queries have met it, and changes no ranking. That no note
is near is said of a matter, not of a note: of many notes chance decides which is the nearest, so
that tasks are counted together by their words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from uuid import UUID

from django.db.models import Q

from engram.kernel.credentials import without_credentials
from engram.kernel.ids import next_id
from engram.kernel.models import Workspace
from memories.core.content import normalise_quote
from memories.core.topic_words import stems
from memories.models.drift import DRIFT_SOURCE, ErrorSeverity, ErrorType
from memories.services.drift.calibrations import calibration_of
from memories.services.drift.report import COLUMNS, UPSERT, as_json, upsert, within_savepoint
from memories.services.drift.resolve import open_tasks, resolve_near

QUERY_KEPT_CHARS = 500
COMPARED = 200  # open errors whose task is compared with a new one, those met last
# A note that was deleted since its passage was found would fail the answer at its commit.
_NOTE_ERROR = f"""
    WITH held AS (
        SELECT id FROM memories_note WHERE workspace_id = %(workspace)s AND id = %(note)s
        FOR KEY SHARE SKIP LOCKED
    )
    {COLUMNS}
    SELECT %(id)s::uuid, %(workspace)s, %(type)s, NULL::uuid, id, %(path)s, NULL::integer,
        %(source)s, %(query)s, %(queries)s::text[], %(distance)s, %(context)s::jsonb, %(weight)s,
        %(now)s, %(now)s, 1, '', '', '', %(severity)s
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

    Where one is near, resolve that none was near to this task before.

    Runs in the transaction of the answer, and never raises.
    """
    calibration = calibration_of(workspace.embedding_model)
    if not near or calibration is None or not workspace.config.drift_enabled:
        return
    best = near[0]
    if best.cosine < calibration.low_overlap:
        within_savepoint(lambda: _record_missing(task, project, near, now), workspace, now)
        return
    asked_before = Q(queries__contains=[_digest_of(task)])
    within_savepoint(lambda: resolve_near(asked_before, now=now), workspace, now)
    if best.cosine < calibration.weak and is_elsewhere(best.path, project):
        within_savepoint(
            lambda: _record(ErrorType.CONTEXTUAL_MISMATCH, best, task, project, now), workspace, now
        )


def _record_missing(task: str, project: str, near: Sequence[NearNote], now: datetime) -> None:
    """Record that no note is about a task, where a task about the same matter met it before.

    Else beside the nearest note about which nothing of another matter is recorded; if each has such
    an error, this task is left out.
    """
    known = open_tasks().filter(note__isnull=False)
    rows = list(known.order_by("-last_seen_at", "-pk")[:COMPARED])
    asked = task[:QUERY_KEPT_CHARS]  # as much as is kept of the others
    same = next((row for row in rows if are_about_one_matter(row.query, asked)), None)
    if same is not None and same.note_id is not None:
        found = NearNote(same.note_id, same.note_path, "", near[0].cosine)
    else:
        taken = {row.note_id for row in rows}
        free = next((one for one in near if one.note_id not in taken), None)
        if free is None:
            return
        found = free
    _record(ErrorType.LOW_OVERLAP, found, task, project, now)


def are_about_one_matter(a: str, b: str) -> bool:
    """Return whether two tasks share half of the content words of the shorter one, at least two."""
    mine, theirs = _matter_of(a), _matter_of(b)
    least = min(len(mine), len(theirs))
    return len(mine & theirs) >= max(min(2, least), least / 2) > 0


@lru_cache(maxsize=2 * COMPARED)  # a task is compared with all that are open, and these again
def _matter_of(task: str) -> frozenset[str]:
    return frozenset(stems(task))


def is_elsewhere(path: str, project: str) -> bool:
    """Return whether a note lies outside the folder of the project that was asked for."""
    wanted = project.strip("/").casefold()
    folders = path.casefold().split("/")[:-1]
    return bool(wanted) and bool(folders) and not set(wanted.split("/")) & set(folders)


def _record(error_type: ErrorType, near: NearNote, task: str, project: str, now: datetime) -> None:
    upsert(
        _NOTE_ERROR,
        {
            "id": next_id(),
            "type": error_type.value,
            "note": near.note_id,
            "path": near.path,
            "source": DRIFT_SOURCE,
            "query": without_credentials(task)[0][:QUERY_KEPT_CHARS],
            "queries": [_digest_of(task)],
            "distance": 1.0 - near.cosine,
            "context": as_json(
                {"heading": near.heading, "project": without_credentials(project)[0]}
            ),
            "weight": min(1.0, max(0.0, 1.0 - near.cosine)),
            "severity": ErrorSeverity.MEDIUM.value,
        },
        now,
    )


def _digest_of(task: str) -> str:
    return blake2b(normalise_quote(task).encode(), digest_size=8).hexdigest()
