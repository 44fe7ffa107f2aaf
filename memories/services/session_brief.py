"""What people decided since a caller's last session: told by upper apps, by setting.

`settings.ENGRAM_SESSION_BRIEFERS` names callables that take `since`, `until` and `now`, and return
what was decided between, newest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, cast
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

DECIDED_MAX = 10


@dataclass(frozen=True, slots=True)
class Decided:
    """One answered question; `outcome` says in words what holds since."""

    conflict: UUID
    question: str
    verdict: str
    outcome: str


class Briefer(Protocol):
    """A callable that the setting names; called inside the workspace."""

    def __call__(self, *, since: datetime, until: datetime, now: datetime) -> Sequence[Decided]:
        """Return at most `DECIDED_MAX` decisions that stand, newest first, as they read now."""


def decided_since(since: datetime | None, until: datetime, *, now: datetime) -> list[Decided]:
    """Return what was decided between a caller's last session, if there was one, and this one."""
    if since is None:
        return []
    found: list[Decided] = []
    for name in settings.ENGRAM_SESSION_BRIEFERS:
        briefer = cast("Briefer", import_string(name))
        found += briefer(since=since, until=until, now=now)
    return found[:DECIDED_MAX]
