"""Join the events of one change of many into one line of the feed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from engram.console.wording import is_shown, words_for
from engram.kernel.models import Event

READ: Final = 1_000  # events, the newest
JOINED_FROM: Final = 4  # fewer stay lines of their own, each with its text
JOINED_FROM_ALIKE: Final = 2  # of events without a text, whose lines would be the same
WITHIN: Final = timedelta(seconds=60)  # of the newest of a line
# The families of events that are told with a text: of their memory, card or note.
WITH_TEXT: Final = frozenset({"memory", "conflict", "note"})
# Of these what one act does to many: by people on a list, or by a batch. The others are told one
# by one.
JOINED: Final = frozenset(
    {
        "memory.committed",
        "memory.forgotten",
        "memory.restored",
        "memory.revised",
        "memory.culled",
        "memory.answered",
        "memory.erased",
        "memory.signalled",
        "conflict.resolved",
        "conflict.snoozed",
        "conflict.assigned",
        "note.created",
        "note.changed",
        "note.deleted",
    }
)


@dataclass(slots=True)
class Line:
    """A line of the feed: its newest event, and all that it stands for, newest first."""

    seq: int
    at: datetime
    seqs: list[int]
    joined_from: int


def newest_lines(limit: int) -> list[Line]:
    """Return the newest lines, newest first; one query, of light columns."""
    newest = Event.objects.order_by("-seq").only("type", "at", "actor_label", "data")[:READ]
    return _split_short(_group(event for event in newest if is_shown(event.type)))[:limit]


def line_of(event_type: str, data: Mapping[str, Any], actor: str) -> str:
    """Return what events of one line have in common; "" of one that is told by itself."""
    is_joined = event_type in JOINED or joined_from(event_type) == JOINED_FROM_ALIKE
    return f"{words_for(event_type, data)}, {actor}" if is_joined else ""


def joined_from(event_type: str) -> int:
    """Return how many events of a type become one line."""
    has_text = event_type.partition(".")[0] in WITH_TEXT
    return JOINED_FROM if has_text else JOINED_FROM_ALIKE


def _group(events: Iterable[Event]) -> list[Line]:
    lines: list[Line] = []
    last: dict[str, Line] = {}
    for event in events:
        name = line_of(event.type, event.data, event.actor_label)
        line = last.get(name)
        if line is not None and line.at - event.at <= WITHIN:
            line.seqs.append(event.seq)
            continue
        lines.append(Line(event.seq, event.at, [event.seq], joined_from(event.type)))
        if name:
            last[name] = lines[-1]
    return lines


def _split_short(lines: Iterable[Line]) -> list[Line]:
    """Return lines of too few events as one line each, in the order of the newest."""
    found: list[Line] = []
    for line in lines:
        if len(line.seqs) >= line.joined_from:
            found.append(line)
        else:
            found += [Line(seq, line.at, [seq], line.joined_from) for seq in line.seqs]
    return sorted(found, key=lambda line: line.seq, reverse=True)
