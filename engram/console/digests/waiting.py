"""What is open in a workspace, as a role may see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from engram.console.inbox import queue
from engram.console.inbox.counts import tallies
from engram.console.inbox.registry import sources_for
from engram.console.inbox.source import InboxEntry, InboxFilter, Source, WaitingCount
from engram.kernel.models import Role

ITEMS_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Waiting:
    """The kinds of open items that there are, how many, and the most urgent items."""

    kinds: Sequence[tuple[Source, WaitingCount]]
    entries: Sequence[InboxEntry]

    @property
    def total(self) -> int:
        """Return how many items are open."""
        return sum(found.count for _, found in self.kinds)


def find_waiting(role: Role, now: datetime) -> Waiting:
    """Return what is open in the current workspace for a role."""
    sources = sources_for(role)
    counted = tallies(sources, now)
    kinds = [(source, counted[source.name]) for source in sources if counted[source.name].count]
    entries = queue.entries(sources, InboxFilter(), now, limit=ITEMS_MAX) if kinds else []
    return Waiting(kinds, entries)
