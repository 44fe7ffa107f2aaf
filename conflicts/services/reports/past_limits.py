"""Count the past judgements and reports of keys that another hourly limit would have refused."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from conflicts.services.reports.records import HOUR, JUDGED_EVENT
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.models import Event, Workspace

READ: Final = 100_000  # the newest


def count_refused(_: Workspace, config: WorkspaceSettings, since: datetime, until: datetime) -> int:
    """Return how many of a period's judgements the limit would have refused.

    The hour before the period is read, too: what a key sent then counts against its first hour.
    Called inside the workspace.
    """
    sent = Event.objects.filter(
        type=JUDGED_EVENT, actor_kind="key", at__gt=since - HOUR, at__lt=until
    )
    newest = sent.order_by("-at", "-seq").values_list("actor_id", "at", "data__pairs")
    rows = list(newest[:READ])
    refused = refuse(
        ((key, at, pairs or 1) for key, at, pairs in reversed(rows)), config.judgements_per_hour
    )
    return sum(at >= since for at in refused)


def refuse(sent: Iterable[tuple[str, datetime, int]], most: int) -> list[datetime]:
    """Return when judgements would have been refused; (key, time, pairs), the oldest first.

    As when they are sent: what is refused does not count, and one that is accepted may name more
    pairs than were left.
    """
    accepted: defaultdict[str, deque[tuple[datetime, int]]] = defaultdict(deque)
    counts: defaultdict[str, int] = defaultdict(int)
    refused = []
    for key, at, pairs in sent:
        within_hour = accepted[key]
        while within_hour and within_hour[0][0] <= at - HOUR:
            counts[key] -= within_hour.popleft()[1]
        if counts[key] >= most:
            refused.append(at)
        else:
            within_hour.append((at, pairs))
            counts[key] += pairs
    return refused
