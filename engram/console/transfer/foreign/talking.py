"""Import conversations through extraction: read whole first, then one session a day of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engram.console.transfer.foreign.chats import Talk, talks_of
from engram.console.transfer.foreign.streams import ERRORS_SHOWN, ForeignError
from engram.kernel.models import Workspace
from memories.services.commit.import_lines import IMPORTER
from memories.services.extraction.take_over import Conversation, take_over


@dataclass(slots=True)
class Talks:
    """What a file of conversations holds."""

    conversations: int = 0
    empty: int = 0
    talks: int = 0
    messages: int = 0
    chars: int = 0
    ahead: int = 0  # of now: their time cannot be right
    refused: int = 0
    errors: list[str] = field(default_factory=list)  # the first ones, with the item's number


def count_talks(items: Iterable[Any], format_name: str, *, now: datetime) -> Talks:
    """Read everything once; what cannot be imported is among the errors."""
    found = Talks()
    for number, item in enumerate(items, start=1):
        try:
            talks = list(talks_of(item, format_name))
        except ForeignError as error:
            found.refused += 1
            if len(found.errors) < ERRORS_SHOWN:
                found.errors.append(f"conversation {number} {error}")
            continue
        found.conversations += 1
        found.empty += not talks
        for talk in talks:
            found.talks += 1
            found.messages += talk.messages
            found.chars += len(talk.transcript)
            found.ahead += talk.ended_at > now
    return found


def take_talks(
    workspace: Workspace,
    items: Iterable[Any],
    format_name: str,
    *,
    project: str,
    scope: str,
    clock: Callable[[], datetime],
    advance: Callable[[int], object],
) -> int:
    """Store every transcript that was not stored before and queue it; return how many.

    Each is one transaction: who is killed goes on where it stopped. A time that lies ahead becomes
    the present.
    """
    taken = 0
    for talk in _readable(items, format_name):
        now = clock()
        conversation = Conversation(
            session_key=talk.key,
            transcript=talk.transcript,
            started_at=min(talk.started_at, now),
            ended_at=min(talk.ended_at, now),
            project=project,
            scope=scope,
            agent=format_name,
        )
        taken += take_over(workspace, conversation, actor=IMPORTER, now=now)
        advance(1)
    return taken


def _readable(items: Iterable[Any], format_name: str) -> Iterator[Talk]:
    for item in items:
        try:
            yield from list(talks_of(item, format_name))
        except ForeignError:
            continue  # counted before
