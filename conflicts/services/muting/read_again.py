"""Read again what was written while a rule was muted, once it finds again.

What a muted rule finds is stored nowhere, so its pairs are found again by reading the memories that
detection read in that time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max
from django.utils import timezone

from conflicts.core.muting import MUTEABLE
from conflicts.models import DetectionRun
from conflicts.services.due import note_written
from conflicts.services.muting.settle import SETTING
from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory


def read_unmuted(
    sender: Any, *, workspace: Workspace, changed: Mapping[str, Any], now: datetime, **_: Any
) -> None:
    """Queue what was written since rules or tiers were muted that are muted no more."""
    before, after = changed.get(SETTING, ((), ()))
    unmuted = ({*before} - {*after}) & MUTEABLE
    if not unmuted or not workspace.config.detection_enabled:
        return
    with in_workspace(workspace):
        written = Memory.objects.recallable(now)
        if since := _read_since(unmuted):
            written = written.filter(updated_at__gte=since)
        ids = list(written.values_list("pk", flat=True))
        if ids:
            note_written(sender, memory_ids=ids, now=timezone.now())


def _read_since(unmuted: Collection[str]) -> datetime | None:
    """Return when the oldest memory was written that was read while these were muted.

    None where the history does not say when they were muted. A memory waits for its reading, so
    that it may be older than the muting: at most as much as a run has lagged since.
    """
    muted_at = {name: at for name in unmuted if (at := _muted_at(name))}
    if len(muted_at) < len(unmuted):
        return None
    since = min(muted_at.values())
    runs = DetectionRun.objects.filter(created_at__gte=since).order_by()
    lag = runs.aggregate(most=Max("lag_seconds"))["most"] or 0.0
    return since - timedelta(seconds=lag)


def _muted_at(name: str) -> datetime | None:
    """Return when a rule or tier was muted last, by the history of the settings."""
    muted = Event.objects.filter(type="settings.changed", data__has_key=SETTING)
    muted = muted.filter(**{f"data__{SETTING}__1__contains": name})
    muted = muted.exclude(**{f"data__{SETTING}__0__contains": name})
    return muted.order_by("-seq").values_list("at", flat=True).first()
