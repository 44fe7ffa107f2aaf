"""Join the events of one change of many into one line of the feed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from engram.console.wording import is_shown, words_for
from engram.kernel.models import Event

READ: Final = 1_000  # events, the newest
JOINED_FROM: Final = 4  # things: lines about fewer are one for each, with its text
JOINED_FROM_ALIKE: Final = 2  # of events without a text, whose lines would be the same
WITHIN: Final = timedelta(seconds=60)  # of the newest of a line
# The families of events that are told with a text, of their memory, card or note: what a line of
# several is about.
WITH_TEXT: Final[dict[str, str]] = {"memory": "memories", "conflict": "conflicts", "note": "notes"}
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
    """A line of the feed: its newest event, and all that it stands for, newest first.

    `objects` has, for each event, what it is about.
    """

    seq: int
    at: datetime
    seqs: list[int]
    objects: list[str]
    family: str

    @property
    def about(self) -> list[str]:
        """Return what the line is about, each once, newest first."""
        return list(dict.fromkeys(self.objects))


def newest_lines(limit: int) -> list[Line]:
    """Return the newest lines, newest first; one query, of light columns."""
    columns = ("type", "at", "actor_label", "data", "object_id")
    newest = Event.objects.order_by("-seq").only(*columns)[:READ]
    return _split_short(_group(event for event in newest if is_shown(event.type)))[:limit]


def line_of(event_type: str, data: Mapping[str, Any], actor: str) -> str:
    """Return what events of one line have in common; "" of one that is told by itself."""
    is_joined = event_type in JOINED or joined_from(event_type) == JOINED_FROM_ALIKE
    return f"{words_for(event_type, data)}, {actor}" if is_joined else ""


def joined_from(event_type: str) -> int:
    """Return how many events of a type become one line, if each is about something else."""
    return _joined_from(event_type.partition(".")[0])


def _joined_from(family: str) -> int:
    return JOINED_FROM if family in WITH_TEXT else JOINED_FROM_ALIKE


def _group(events: Iterable[Event]) -> list[Line]:
    lines: list[Line] = []
    last: dict[str, Line] = {}
    for event in events:
        name = line_of(event.type, event.data, event.actor_label)
        line = last.get(name)
        if line is not None and line.at - event.at <= WITHIN:
            line.seqs.append(event.seq)
            line.objects.append(event.object_id)
            continue
        family = event.type.partition(".")[0]
        lines.append(Line(event.seq, event.at, [event.seq], [event.object_id], family))
        if name:
            last[name] = lines[-1]
    return lines


def _split_short(lines: Iterable[Line]) -> list[Line]:
    """Return lines about too few things as one line for each thing, in the order of the newest."""
    found: list[Line] = []
    for line in lines:
        has_text = line.family in WITH_TEXT
        count = len(line.about) if has_text else len(line.seqs)
        found += [line] if count >= _joined_from(line.family) else _split(line)
    return sorted(found, key=lambda line: line.seq, reverse=True)


def _split(line: Line) -> list[Line]:
    """Return a line for each thing that a line is about; of events without a text one for each."""
    seqs: dict[str, list[int]] = defaultdict(list)
    for seq, about in zip(line.seqs, line.objects, strict=True):
        seqs[about if line.family in WITH_TEXT else str(seq)].append(seq)
    return [
        Line(own[0], line.at, own, [about] * len(own), line.family) for about, own in seqs.items()
    ]
