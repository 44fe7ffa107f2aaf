"""What a session is given: memories with their disputes, decisions, and all of it as text.

`settings.ENGRAM_SESSION_BRIEFERS` names callables that take `since`, `until` and `now`, and return
what people decided between, newest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, cast
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from memories.core.briefing import Note, briefing
from memories.models import Kind, Session
from memories.services.disputes import Dispute
from memories.services.sessions.candidates import CONSTRAINTS_READ


@dataclass(frozen=True, slots=True)
class Offered:
    """One memory that a session is given."""

    memory_id: UUID
    content: str
    kind: str
    score: float
    source: str
    is_always: bool
    dispute: Dispute

    @property
    def note(self) -> Note:
        """Return it as the text says it; a constraint of another place is none here."""
        other = self.dispute.contradicted_by
        kind = self.kind if self.is_always or self.kind != Kind.CONSTRAINT else ""
        return Note(
            kind, self.content, bool(self.dispute.conflicts), other.content if other else ""
        )


@dataclass(frozen=True, slots=True)
class Started:
    """A session with what it was given, as far as that may still be recalled."""

    session: Session
    offered: Sequence[Offered]
    decided: Sequence[Decided]
    left_out: Sequence[UUID]  # constraints that hold here and are not among what is offered
    is_new: bool

    @property
    def text(self) -> str:
        """Return all of it ready to paste."""
        return briefing(
            [one.note for one in self.offered],
            [(one.question, one.outcome) for one in self.decided],
            left_out=self._left_out_count,
        )

    @property
    def _left_out_count(self) -> str:
        """Say how many constraints are left out; none are counted beyond those that were read."""
        given = sum(one.kind == Kind.CONSTRAINT and one.is_always for one in self.offered)
        is_capped = len(self.left_out) + given >= CONSTRAINTS_READ
        return f"{'at least ' * is_capped}{len(self.left_out)}" if self.left_out else ""


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
