"""What people decided since a caller's last session: told by upper apps, by setting.

`settings.ENGRAM_SESSION_BRIEFERS` names callables that take `since` and `until` and return what
was decided between, newest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, cast
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from memories.models import Session

DECIDED_MAX = 10


@dataclass(frozen=True, slots=True)
class Decided:
    """One answered question."""

    conflict: UUID
    question: str
    outcome: str


class Briefer(Protocol):
    """A callable that the setting names; called inside the workspace."""

    def __call__(self, *, since: datetime, until: datetime) -> Sequence[Decided]:
        """Return at most `DECIDED_MAX` decisions that stand, newest first."""


def decided_since_last(session: Session) -> list[Decided]:
    """Return what was decided between the caller's (and agent's) last session and this one."""
    before = Session.objects.filter(
        caller=session.caller, agent=session.agent, started_at__lt=session.started_at
    )
    since = before.order_by("-started_at").values_list("started_at", flat=True).first()
    if since is None:
        return []
    found: list[Decided] = []
    for name in settings.ENGRAM_SESSION_BRIEFERS:
        briefer = cast("Briefer", import_string(name))
        found += briefer(since=since, until=session.started_at)
    return found[:DECIDED_MAX]
