"""The life of a memory, newest first: its history, its chain, its conflicts and its sessions.

A page costs the same queries whatever it shows. Positions in the timeline are a time, a source and
a number, so that pages are stable while entries are added.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import F, Q, QuerySet

from conflicts.core.wording import WordDiff, word_diff
from engram.console.memories.life_conflicts import events_of_conflicts
from engram.console.memories.revised import FieldChange, changes_by_revision
from engram.console.wording import glyph_for, words_for
from engram.kernel.literals import MAX_BIGINT, moment, whole_number
from engram.kernel.models import Event
from memories.models import Memory, SessionCandidate
from memories.services.lifecycle import attached

CONFLICT: Final = "conflict"
CHAIN: Final = "follows"  # sorts after "event": it follows the commit of one moment
EVENT: Final = "event"
SESSION: Final = "session"
SUPERSEDED: Final = "memory.superseded"
REVISED: Final = "memory.revised"
# Icons that tell apart what happens to one memory, where the feed has one for all.
_GLYPHS: Final[dict[str, tuple[str, str]]] = {
    "memory.disputed": ("conflicts", "warn"),
    "memory.signalled": ("alert", "warn"),
    "drift.found": ("alert", "warn"),
    "memory.forgotten": ("cross", "warn"),
    "memory.restored": ("undo", "good"),
    REVISED: ("notes", ""),
    "memory.merged": ("merge", ""),
    "memory.upheld": ("check", "good"),
    SUPERSEDED: ("link", ""),
}


class Position(NamedTuple):
    """The place of an entry: its time, then its source, then its number within the source."""

    at: datetime
    source: str
    number: int

    def __str__(self) -> str:
        return f"{self.at.isoformat()}~{self.source}~{self.number}"


@dataclass(frozen=True, slots=True)
class LifeEntry:
    """One entry; `text` is the wording that was heard, `change` how a revision changed it.

    `changed` are the other fields of a revision.
    """

    at: datetime
    words: str
    icon: str
    tone: str = ""
    by: str = ""
    text: str | None = None
    change: WordDiff | None = None
    changed: Sequence[FieldChange] = ()
    event: Event | None = None
    candidate: SessionCandidate | None = None
    other: Memory | None = None  # the memory before or after it in the chain

    @property
    def conflict(self) -> str:
        """Return the id of the conflict that the entry is about or because of; "" for none."""
        if self.event is None:
            return ""
        is_of_card = self.event.object_type == "conflict"
        return self.event.object_id if is_of_card else str(self.event.data.get("conflict") or "")


@dataclass(frozen=True, slots=True)
class Life:
    """A page of the timeline; `older` is the position at which the next page begins, "" at the end.

    `is_first` tells whether it is the newest page.
    """

    entries: Sequence[LifeEntry]
    older: str
    is_first: bool


def read_position(text: str) -> Position | None:
    """Return the position that an address names; None if it is none."""
    try:
        at, source, number = text.split("~")
        found = Position(moment(at), source, whole_number(number, least=0, most=MAX_BIGINT))
    except ValueError:
        return None
    return found if source in _SOURCES else None


def life_of(
    memory: Memory, before: Position | None, *, size: int, until: datetime | None = None
) -> Life:
    """Return the entries before a position, or the newest until a time, at most `size`."""
    found: list[Position] = []
    for source in _SOURCES:
        rows = _SOURCES[source].rows(memory)
        if before is not None:
            rows = rows.filter(_older(source, before))
        if until is not None:
            rows = rows.filter(moment__lte=until)
        newest = rows.order_by("-moment", "-pk").values_list("moment", "pk")[: size + 1]
        found += [Position(at, source, number) for at, number in newest]
    found.sort(reverse=True)
    shown, is_more = found[:size], len(found) > size
    read = {
        source: _SOURCES[source].read(memory, [one.number for one in shown if one.source == source])
        for source in _SOURCES
    }
    entries = [read[one.source][one.number] for one in shown if one.number in read[one.source]]
    return Life(entries, str(shown[-1]) if is_more else "", before is None)


def _older(source: str, before: Position) -> Q:
    if source < before.source:
        return Q(moment__lte=before.at)
    if source > before.source:
        return Q(moment__lt=before.at)
    return Q(moment__lt=before.at) | Q(moment=before.at, pk__lt=before.number)


def _events(memory: Memory) -> QuerySet[Any]:
    """Return the memory's own events."""
    return attached.events_of(memory.pk).annotate(moment=F("at"))


def _chain(memory: Memory) -> QuerySet[Any]:
    """Return the events by which it superseded others."""
    replaced = Memory.objects.filter(superseded_by=memory).values_list("pk", flat=True)
    ids = [str(pk) for pk in replaced]
    return Event.objects.filter(object_id__in=ids, type=SUPERSEDED).annotate(moment=F("at"))


def _conflicts(memory: Memory) -> QuerySet[Any]:
    """Return how its conflicts were closed without a change to it, and opened again."""
    return events_of_conflicts(memory).annotate(moment=F("at"))


def _sessions(memory: Memory) -> QuerySet[Any]:
    """Return its records of sessions that were given it, matched it or said something about it."""
    told = Q(was_injected=True) | Q(fts_hit_count__gt=0) | Q(feedback__isnull=False)
    return SessionCandidate.objects.filter(told, memory=memory).annotate(moment=F("created_at"))


def _read_events(memory: Memory, numbers: Collection[int]) -> dict[int, LifeEntry]:
    events = list(Event.objects.filter(pk__in=numbers))
    attached.add_wordings(memory.pk, events)
    named = {_other_id(memory, event) for event in events} - {None}
    others = Memory.objects.in_bulk([one for one in named if one is not None])
    revised = changes_by_revision(memory, [one for one in events if one.type == REVISED])
    return {event.seq: _entry_of(memory, event, others, revised) for event in events}


def _other_id(memory: Memory, event: Event) -> UUID | None:
    """Return the other memory of an event of the chain."""
    if event.type != SUPERSEDED:
        return None
    other = event.object_id if event.object_id != str(memory.pk) else event.data.get("by")
    return UUID(other) if other else None


def _entry_of(
    memory: Memory,
    event: Event,
    others: dict[UUID, Memory],
    revised: Mapping[int, Sequence[FieldChange]],
) -> LifeEntry:
    other_id = _other_id(memory, event)
    is_of_other = event.object_type == "memory" and event.object_id != str(memory.pk)
    words = "Took the place of another memory" if is_of_other else words_for(event.type, event.data)
    icon, tone = _GLYPHS.get(event.type) or glyph_for(event.type)
    text = getattr(event, "content", None)
    change = None
    if event.type == REVISED and text is not None:
        after = event.after if event.after is not None else memory.content  # type: ignore[attr-defined]
        change, text = word_diff(text, after) if text != after else None, None
    return LifeEntry(
        at=event.at,
        words=words,
        icon=icon,
        tone=tone,
        by=event.actor_label,
        text=None if is_of_other or text == memory.content else text,
        change=change,
        changed=revised.get(event.data.get("revision", 0), ()) if event.type == REVISED else (),
        event=event,
        other=others.get(other_id) if other_id else None,
    )


def _read_sessions(memory: Memory, numbers: Collection[int]) -> dict[int, LifeEntry]:
    rows = SessionCandidate.objects.filter(pk__in=numbers).select_related("session")
    plain = rows.defer(
        "signals", "session__context", "session__context_embedding", "session__transcript",
        "session__prompt_digests",
    )  # fmt: skip
    return {
        row.pk: LifeEntry(
            at=row.created_at, words=_session_words(row), icon="session", tone="accent",
            by=row.session.agent, candidate=row,
        )
        for row in plain
    }  # fmt: skip


def _session_words(row: SessionCandidate) -> str:
    if row.was_injected:
        return "Given to a session"
    return "Matched by a prompt" if row.fts_hit_count else "Rated by a session"


class _Source(NamedTuple):
    rows: Callable[[Memory], QuerySet[Any]]
    read: Callable[[Memory, Collection[int]], dict[int, LifeEntry]]


_SOURCES: Final[dict[str, _Source]] = {
    CHAIN: _Source(_chain, _read_events),
    CONFLICT: _Source(_conflicts, _read_events),
    EVENT: _Source(_events, _read_events),
    SESSION: _Source(_sessions, _read_sessions),
}
