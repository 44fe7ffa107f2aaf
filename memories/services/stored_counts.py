"""Count what other settings of retention, of the janitor or of recall would do to what is stored.

Only what stored rows can answer is counted: what a lower minimum would have returned in addition,
for example, is stored nowhere. Each setting costs one statement or a few, whatever there is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.db.models import Count, Max, Q, Sum

from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.models import Workspace
from memories.models import PastResult
from memories.models.recall import RecallOrigin
from memories.services.janitor.scan import candidates, rules_of
from memories.services.retention import due


@dataclass(frozen=True, slots=True)
class StoredCount:
    """A number by the present and by the proposed value of a setting; `counts` says of what."""

    name: str
    counts: str
    as_set: int
    as_asked: int


Counter = Callable[[Workspace, WorkspaceSettings, datetime, datetime], int]
_RETAINED: Final = {name: kind for kind, name in due.SETTINGS.items()}
_UNUSED: Final = "memories old enough for the janitor to look at, which nobody has used"


def count_stored(
    workspace: Workspace,
    current: WorkspaceSettings,
    proposed: WorkspaceSettings,
    *,
    since: datetime,
    until: datetime,
    counted: Mapping[str, tuple[str, Counter]],
) -> list[StoredCount]:
    """Return the counts of the settings that differ; called inside the workspace."""
    before, after = current.model_dump(), proposed.model_dump()
    return [
        StoredCount(
            name,
            counts,
            counter(workspace, current, since, until),
            counter(workspace, proposed, since, until),
        )
        for name, (counts, counter) in counted.items()
        if before[name] != after[name]
    ]


def _due_of(name: str) -> Counter:
    def count(_: Workspace, config: WorkspaceSettings, __: datetime, now: datetime) -> int:
        (limit,) = (one for one in due.limits_of(config, now) if one.kind == _RETAINED[name])
        return due.count_due(limit)

    return count


def _unused(workspace: Workspace, config: WorkspaceSettings, _: datetime, now: datetime) -> int:
    rules = replace(
        rules_of(workspace, None),
        assistant_days=config.janitor_assistant_days,
        summary_days=config.janitor_summary_days,
    )
    return candidates(rules, now).count()


def _left_out(_: Workspace, config: WorkspaceSettings, since: datetime, until: datetime) -> int:
    """Count the results of recalls whose most relevant one lies below the minimum.

    Present pins are returned whatever their relevance; a recall that named its own `min_score` did
    not ask for the setting.
    """
    results = PastResult.objects.filter(
        at__gte=since, at__lt=until, recall__origin=RecallOrigin.RECALL
    ).exclude(recall__asked__has_key="min_score")
    by_recall = (
        results.order_by()
        .values("recall")
        .annotate(best=Max("relevance"), unpinned=Count("pk", filter=Q(memory__is_pinned=False)))
    )
    found = by_recall.filter(best__lt=config.min_relevance).aggregate(all=Sum("unpinned"))
    return int(found["all"] or 0)


# What is counted of each setting, and how.
COUNTED: Final[Mapping[str, tuple[str, Counter]]] = {
    "retention_session_days": ("sessions deleted now", _due_of("retention_session_days")),
    "retention_transcript_days": ("transcripts deleted now", _due_of("retention_transcript_days")),
    "retention_recall_days": ("records of recalls deleted now", _due_of("retention_recall_days")),
    "retention_query_days": ("past recalls deleted now", _due_of("retention_query_days")),
    "janitor_assistant_days": (_UNUSED, _unused),
    "janitor_summary_days": (_UNUSED, _unused),
    "min_relevance": ("kept results of recalls that would have been left out", _left_out),
}
