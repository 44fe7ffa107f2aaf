"""What a workspace keeps no longer, by its settings and its local days.

A limit of n days passes with the local midnight after them: so much becomes due once a day, however
often the sweep comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Exists, OuterRef, Q, QuerySet

from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.due import waiting_since
from engram.kernel.models import Workspace
from engram.kernel.services import settings_with
from engram.kernel.tenancy import in_workspace
from memories.models import CoRecall, PastRecall, RecallDay, RecallRecord, Session, SessionPrompt

# The settings, by what they limit.
SETTINGS: Final = {
    "sessions": "retention_session_days",
    "transcripts": "retention_transcript_days",
    "recalls": "retention_recall_days",
    "queries": "retention_query_days",
}


@dataclass(frozen=True, slots=True)
class KeptFor:
    """One limit: what it limits, its days (None: kept), since when it keeps, and what is due."""

    kind: str
    days: int | None
    keeps_since: datetime | None
    due: int = 0


def limits_of(config: WorkspaceSettings, now: datetime) -> list[KeptFor]:
    """Return the limits of a workspace, without counting what is due."""
    limits = []
    for kind, name in SETTINGS.items():
        days: int | None = getattr(config, name)
        since = None if days is None else _midnight(config, now, days)
        limits.append(KeptFor(kind, days, since))
    return limits


def preview(
    workspace: Workspace, *, now: datetime, changes: Mapping[str, Any] | None = None
) -> list[KeptFor]:
    """Return the limits, with `changes` of the settings, and how much each would delete now.

    Raise `InvalidError` for an invalid change. Sessions that are deleted count as transcripts, too,
    if they have one that is due.
    """
    config = settings_with(workspace.settings, changes or {})
    with in_workspace(workspace):
        return [
            KeptFor(limit.kind, limit.days, limit.keeps_since, count_due(limit))
            for limit in limits_of(config, now)
        ]


def has_chosen_limits(config: WorkspaceSettings) -> bool:
    """Return whether anything is deleted by age but past recalls, whose days have a default."""
    chosen = (name for kind, name in SETTINGS.items() if kind != "queries")
    return any(getattr(config, name) is not None for name in chosen)


def oldest_queries() -> dict[UUID, datetime]:
    """Return when the oldest past recall was asked, by workspace; one statement for all."""
    return waiting_since(PastRecall.objects.all, "at")


def is_older(oldest: datetime | None, config: WorkspaceSettings, now: datetime) -> bool:
    """Return whether a past recall of this time is kept no longer; None: there is none."""
    days = config.retention_query_days
    return oldest is not None and days is not None and oldest < _midnight(config, now, days)


def old_transcripts(since: datetime) -> QuerySet[Session]:
    """Return the sessions that ended before, with a transcript or prompts."""
    prompts = SessionPrompt.objects.filter(session=OuterRef("pk"))
    return old_sessions(since).filter(~Q(transcript="") | Exists(prompts))


def old_sessions(since: datetime) -> QuerySet[Session]:
    """Return the sessions that ended before. Open ones stay until they are closed as idle."""
    return Session.objects.filter(ended_at__lt=since)


def old_recalls(since: datetime) -> list[QuerySet[Any]]:
    """Return the records of recalls before: single ones, counts of days, pairs of memories.

    A pair is as old as the last recall that returned both.
    """
    return [
        RecallRecord.objects.filter(at__lt=since),
        RecallDay.objects.filter(day__lt=since.astimezone(UTC).date()),  # days of UTC
        CoRecall.objects.filter(reinforced_at__lt=since),
    ]


def old_queries(since: datetime) -> QuerySet[PastRecall]:
    """Return the past recalls before, which are kept with their queries and factors."""
    return PastRecall.objects.filter(at__lt=since)


def count_due(limit: KeptFor) -> int:
    """Return how much a limit would delete now; called inside the workspace."""
    since = limit.keeps_since
    if since is None:
        return 0
    if limit.kind == "transcripts":
        return old_transcripts(since).count()
    if limit.kind == "sessions":
        return old_sessions(since).count()
    if limit.kind == "queries":
        return old_queries(since).count()
    return sum(rows.count() for rows in old_recalls(since))


def _midnight(config: WorkspaceSettings, now: datetime, days: int) -> datetime:
    """Return the beginning of the local day so many days ago."""
    local = now.astimezone(ZoneInfo(config.time_zone))
    return local.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days)
