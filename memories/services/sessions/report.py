"""Store what an agent reports at the end of its session: what it used, what was wrong or missing.

What was wrong becomes a signal in the inbox and changes nothing by itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from django.db.models import F, Q

from engram.kernel.actors import Actor
from engram.kernel.credentials import without_credentials
from engram.kernel.history import record
from engram.kernel.refusals import InvalidError, StaleError
from memories.core.content import content_hash
from memories.models import Memory, ReportItem, ReportKind, Session, SessionReport
from memories.models.drift import REPORT_SOURCE
from memories.services.causes import OTHER_TRANSCRIPT, SESSION_JUDGED
from memories.services.drift.signals import store_session_signals

REPORTED = "session.reported"
NAMED_MAX = 5  # ids that an error lists


@dataclass(frozen=True, slots=True)
class WrongMemory:
    """A memory that turned out false or outdated, and why, in a few words."""

    memory: UUID
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What an agent says at the end: use by memory, 0..1, and what was wrong or missing."""

    used: Mapping[UUID, float] = field(default_factory=dict)
    wrong: Sequence[WrongMemory] = ()
    missing: Sequence[str] = ()

    def __bool__(self) -> bool:
        """Return whether anything is said."""
        return bool(self.used or self.wrong or self.missing)

    @property
    def memory_ids(self) -> set[UUID]:
        """Return the memories that are named."""
        return {*self.used, *(one.memory for one in self.wrong)}

    @property
    def texts(self) -> list[str]:
        """Return its texts."""
        return [*(one.reason for one in self.wrong), *self.missing]

    @property
    def digest(self) -> str:
        """Return the SHA-256 hex digest of what is said; the order of `used` does not count."""
        used = sorted((str(i), value) for i, value in self.used.items())
        wrong = [(str(one.memory), one.reason) for one in self.wrong]
        said = json.dumps([used, wrong, list(self.missing)])
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def masked(self) -> Report:
        """Return the report with credentials replaced by a marker, as in transcripts."""
        return Report(
            used=self.used,
            wrong=[replace(one, reason=_masked(one.reason)) for one in self.wrong],
            missing=[_masked(text) for text in self.missing],
        )


NOTHING = Report()


def is_new_report(session: Session, report: Report) -> bool:
    """Return whether a report is to be stored; the session is locked.

    Raises
    ------
    StaleError
        When the session has another report, or is judged already.
    """
    if not report:
        return False
    known = SessionReport.objects.filter(session=session).first()
    if known is not None:
        if known.digest == report.digest:
            return False
        raise StaleError("This session has ended, with another report.", cause=OTHER_TRANSCRIPT)
    if session.judged_at is not None:
        raise StaleError(
            "This session is judged; its records change no more.", cause=SESSION_JUDGED
        )
    return True


def store_report(
    session: Session, report: Report, memories: Collection[Memory], *, actor: Actor, now: datetime
) -> None:
    """Store the report of a locked session; `memories` are those it names, locked before.

    Raises
    ------
    InvalidError
        When it names a memory that the session was not given, or that cannot be recalled; nothing
        is stored then.
    """
    live = _live_ids(memories, now)
    readable = live | _replaced_here(session, memories)
    offered = _offered_ids(session, readable)
    _refuse_others("used", report.used, offered)
    _refuse_others("wrong", [one.memory for one in report.wrong], offered)
    SessionReport.objects.create(session=session, digest=report.digest, created_at=now)
    kept = report.masked
    ReportItem.objects.bulk_create(_items(session, kept, now))
    helped = [memory_id for memory_id, value in kept.used.items() if value > 0]
    told = session.candidates.filter(memory__in=helped).exclude(feedback=None)  # counted by that
    Memory.objects.filter(pk__in=helped).exclude(pk__in=told.values("memory")).update(
        used_count=F("used_count") + 1
    )
    # What the session has replaced needs no decision.
    wrong = {
        one.memory: {"reason": one.reason, "session": session.session_key}
        for one in kept.wrong
        if one.memory in live
    }
    store_session_signals(session, REPORT_SOURCE, wrong, actor=actor, now=now)
    record(
        REPORTED,
        of=("session", session.id),
        actor=actor,
        now=now,
        session_key=session.session_key,
        data={
            "used": len(report.used),
            "wrong": len(report.wrong),
            "missing": len(report.missing),
        },
    )


def _live_ids(memories: Collection[Memory], now: datetime) -> set[UUID]:
    found = Memory.objects.recallable(now).filter(pk__in=[memory.pk for memory in memories])
    return set(found.order_by().values_list("pk", flat=True))


def _replaced_here(session: Session, memories: Collection[Memory]) -> set[UUID]:
    """Return the memories that the session itself has superseded: it may say how it used them."""
    hidden = [memory.pk for memory in memories if memory.forgotten_at is None]
    found = Memory.objects.filter(
        pk__in=hidden,
        superseded_by__session_key=session.session_key,
        superseded_by__key=session.key_id,
    )
    return set(found.order_by().values_list("pk", flat=True))


def _offered_ids(session: Session, ids: Collection[UUID]) -> set[UUID]:
    """Return those that the session was given: at its start, or as matches of a prompt."""
    shown = Q(was_injected=True) | Q(fts_hit_count__gt=0)
    rows = session.candidates.filter(shown, memory__in=list(ids)).order_by()
    return set(rows.values_list("memory_id", flat=True))


def _refuse_others(name: str, ids: Collection[UUID], offered: Collection[UUID]) -> None:
    others = [str(i) for i in ids if i not in offered]
    if others:
        more = f" and {len(others) - NAMED_MAX} more" if len(others) > NAMED_MAX else ""
        raise InvalidError(
            name,
            "Only memories that this session was given and that can be recalled: not "
            f"{', '.join(others[:NAMED_MAX])}{more}.",
        )


def _items(session: Session, report: Report, now: datetime) -> Iterator[ReportItem]:
    for position, (memory_id, value) in enumerate(report.used.items()):
        yield ReportItem(
            session=session, kind=ReportKind.USED, memory_id=memory_id, value=value,
            position=position, created_at=now,
        )  # fmt: skip
    texts: list[tuple[ReportKind, UUID | None, str]] = [
        *((ReportKind.WRONG, one.memory, one.reason) for one in report.wrong),
        *((ReportKind.MISSING, None, text) for text in report.missing),
    ]
    for position, (kind, named, text) in enumerate(texts):
        yield ReportItem(
            session=session, kind=kind, memory_id=named, text=text,
            text_hash=content_hash(text), position=position, created_at=now,
        )  # fmt: skip


def _masked(text: str) -> str:
    return without_credentials(text)[0]
