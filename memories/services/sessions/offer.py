"""The answer to a session start: memories with their disputes, decisions, and both as text.

`settings.ENGRAM_SESSION_BRIEFERS` names callables that take `since`, `until` and `now`, and return
the decisions of people in between, newest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, cast
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from memories.core.briefing import BriefingEntry, write_briefing
from memories.models import Kind, Session
from memories.services.disputes import Dispute
from memories.services.sessions.candidates import CONSTRAINTS_READ


@dataclass(frozen=True, slots=True)
class OfferedMemory:
    """One memory injected into a session."""

    memory_id: UUID
    content: str
    kind: str
    score: float
    relevance: float | None
    source: str
    is_always: bool
    dispute: Dispute

    @property
    def note(self) -> BriefingEntry:
        """Return its note in the text; a constraint of another place is an ordinary note."""
        other = self.dispute.contradicted_by
        kind = self.kind if self.is_always or self.kind != Kind.CONSTRAINT else ""
        return BriefingEntry(
            kind, self.content, bool(self.dispute.conflicts), other.content if other else ""
        )


@dataclass(frozen=True, slots=True)
class StartedSession:
    """A session with its injected memories that can still be recalled."""

    session: Session
    offered: Sequence[OfferedMemory]
    decided: Sequence[DecidedConflict]
    left_out: Sequence[UUID]  # constraints that apply here and are not offered
    is_new: bool

    @property
    def text(self) -> str:
        """Return the whole answer as text to paste into a prompt."""
        return write_briefing(
            [one.note for one in self.offered],
            [(one.question, one.outcome) for one in self.decided],
            left_out=self._left_out_count,
        )

    @property
    def _left_out_count(self) -> str:
        """Return how many constraints are left out, as text; "at least" if not all were read."""
        given = sum(one.kind == Kind.CONSTRAINT and one.is_always for one in self.offered)
        is_capped = len(self.left_out) + given >= CONSTRAINTS_READ
        return f"{'at least ' * is_capped}{len(self.left_out)}" if self.left_out else ""


DECIDED_MAX = 10


@dataclass(frozen=True, slots=True)
class DecidedConflict:
    """One decided conflict; `outcome` describes the result in words."""

    conflict: UUID
    question: str
    verdict: str
    outcome: str


class Briefer(Protocol):
    """A callable named by ENGRAM_SESSION_BRIEFERS; it is called within `in_workspace()`."""

    def __call__(
        self, *, since: datetime, until: datetime, now: datetime
    ) -> Sequence[DecidedConflict]:
        """Return at most `DECIDED_MAX` decisions that are not undone, newest first."""


def decided_since(
    since: datetime | None, until: datetime, *, now: datetime
) -> list[DecidedConflict]:
    """Return the decisions between a caller's last session, if there was one, and this one."""
    if since is None:
        return []
    found: list[DecidedConflict] = []
    for name in settings.ENGRAM_SESSION_BRIEFERS:
        briefer = cast("Briefer", import_string(name))
        found += briefer(since=since, until=until, now=now)
    return found[:DECIDED_MAX]
