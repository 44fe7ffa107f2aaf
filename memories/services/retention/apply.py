"""Delete what a workspace keeps no longer, batch after batch; safe to kill at any point.

Each batch commits by itself, with an event that says how much it deleted, and what is deleted is
due no more. So a run that is repeated, or that goes on after a dead one, finds only the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from time import monotonic
from typing import Any, Final

from django.db.models import QuerySet

from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import MissingError
from engram.kernel.tenancy import in_workspace
from memories.models import Session, SessionPrompt
from memories.services.recall.erase_past import delete_past
from memories.services.retention import due
from memories.services.sessions.erase import delete_session
from memories.services.sessions.erase_extracted import erase_extracted_of
from memories.signals import transcripts_erased

TASK: Final = "memories.apply_retention"
TRANSCRIPTS_A_BATCH: Final = 50
SESSIONS_A_BATCH: Final = 50
ROWS_A_BATCH: Final = 5_000
QUERIES_A_BATCH: Final = 500
EVENT: Final = "retention.applied"

Batch = Callable[[Workspace, datetime, datetime], int]


def due_workspaces(now: datetime) -> list[Workspace]:
    """Return the workspaces that have something to delete by age."""
    oldest = due.oldest_queries()
    return [one for one in Workspace.objects.all() if _is_due(one, oldest.get(one.pk), now)]


def _is_due(workspace: Workspace, oldest_query: datetime | None, now: datetime) -> bool:
    if due.is_older(oldest_query, workspace.config, now):
        return True
    if not due.has_chosen_limits(workspace.config):
        return False
    return any(found.due for found in due.preview(workspace, now=now))


def apply_retention(workspace: Workspace, *, now: datetime, seconds: float) -> bool:
    """Delete what is kept no longer for about `seconds`; return whether nothing is left."""
    until = monotonic() + seconds
    for limit in due.limits_of(workspace.config, now):
        if limit.keeps_since is None:
            continue
        batch, size = _BATCHES[limit.kind]
        while batch(workspace, limit.keeps_since, now) >= size:
            if monotonic() >= until:
                return False
    return True


def delete_transcripts(workspace: Workspace, since: datetime, now: datetime) -> int:
    """Delete a batch of old transcripts with what was quoted of them; return their number.

    Their sessions stay, with the context that they were started with.
    """
    with in_workspace(workspace):
        old = due.old_transcripts(since).order_by("pk")[:TRANSCRIPTS_A_BATCH]
        rows = list(old.select_for_update(no_key=True).only("pk", "session_key"))
        for row in rows:
            erase_extracted_of(row.session_key)
        ids = [row.pk for row in rows]
        Session.objects.filter(pk__in=ids).update(transcript="", transcript_digest="")
        SessionPrompt.objects.filter(session__in=ids).delete()
        if ids:
            transcripts_erased.send(Session, session_ids=ids, now=now)
        _record(workspace, "transcripts", len(ids), since, now)
    return len(rows)


def delete_sessions(workspace: Workspace, since: datetime, now: datetime) -> int:
    """Delete a batch of old sessions, each in its own transaction; return their number.

    A session that somebody else deletes meanwhile counts as found, but not as deleted.
    """
    with in_workspace(workspace):
        old = due.old_sessions(since).order_by("ended_at", "pk")
        keys = list(old.values_list("session_key", flat=True)[:SESSIONS_A_BATCH])
    deleted = 0
    for key in keys:
        try:
            delete_session(workspace, key, actor=SYSTEM, now=now)
        except MissingError:
            continue
        deleted += 1
    with in_workspace(workspace):
        _record(workspace, "sessions", deleted, since, now)
    return len(keys)


def delete_recalls(workspace: Workspace, since: datetime, now: datetime) -> int:
    """Delete a batch of old records of recalls; return the number of rows of the largest part."""
    with in_workspace(workspace):
        counts = [_delete_rows(rows) for rows in due.old_recalls(since)]
        _record(workspace, "recalls", sum(counts), since, now)
    return max(counts)


def delete_queries(workspace: Workspace, since: datetime, now: datetime) -> int:
    """Delete a batch of past recalls with their queries and factors; return their number."""
    with in_workspace(workspace):
        old = due.old_queries(since).order_by("at", "id").values_list("pk", flat=True)
        count = delete_past(list(old[:QUERIES_A_BATCH]))
        _record(workspace, "queries", count, since, now)
    return count


_BATCHES: Final[dict[str, tuple[Batch, int]]] = {
    "sessions": (delete_sessions, SESSIONS_A_BATCH),
    "transcripts": (delete_transcripts, TRANSCRIPTS_A_BATCH),
    "recalls": (delete_recalls, ROWS_A_BATCH),
    "queries": (delete_queries, QUERIES_A_BATCH),
}


def _delete_rows(rows: QuerySet[Any]) -> int:
    """Delete up to a batch of rows that nothing refers to."""
    batch = rows.model.objects.filter(pk__in=rows.order_by("pk").values("pk")[:ROWS_A_BATCH])
    return int(batch._raw_delete(batch.db))


def _record(workspace: Workspace, kind: str, count: int, since: datetime, now: datetime) -> None:
    if count:
        data = {kind: count, "before": since.isoformat()}
        record(EVENT, of=("workspace", workspace.pk), actor=SYSTEM, now=now, data=data)
