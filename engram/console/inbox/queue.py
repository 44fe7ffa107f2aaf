"""Merge the items of all sources into one queue, in the order of their marks."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Self

from django.http import HttpRequest
from django.utils import timezone

from engram.console.inbox.counts import read_by_plan, tallies
from engram.console.inbox.registry import sources_for
from engram.console.inbox.source import InboxEntry, InboxFilter, Mark, Source, WaitingCount
from engram.kernel.pages import staff_or_none
from engram.kernel.tenancy import has_workspace


@dataclass(frozen=True, slots=True)
class InboxPosition:
    """Where an item stands in the queue (`position` counts from 1)."""

    total: int
    position: int


@dataclass(frozen=True, slots=True)
class WaitingEntries:
    """The queue as cursor pagination reads a queryset: ordered by `mark`, from one on, cut."""

    sources: Sequence[Source]
    wanted: InboxFilter
    now: datetime
    mark: Mark | None = None
    is_back: bool = False

    def order_by(self, name: str) -> Self:
        """Return the queue in the order of marks; a minus sign reverses it."""
        return replace(self, is_back=name.startswith("-"))

    def filter(self, *, mark__gt: str = "", mark__lt: str = "") -> Self:
        """Return the part of the queue beyond a mark, in the direction of its order."""
        return replace(self, mark=Mark.parse(mark__gt or mark__lt))

    def __getitem__(self, part: slice) -> list[InboxEntry]:
        """Return the first entries, in one query a source."""
        found = entries(
            self.sources,
            self.wanted,
            self.now,
            mark=self.mark,
            limit=part.stop,
            is_back=self.is_back,
        )
        return found[part.start :]


def match_sources(sources: Sequence[Source], wanted: InboxFilter) -> list[Source]:
    """Return the sources that match a filter."""
    return [source for source in sources if wanted.source in {"", source.name}]


def entries(
    sources: Sequence[Source],
    wanted: InboxFilter,
    now: datetime,
    *,
    mark: Mark | None = None,
    limit: int,
    is_back: bool = False,
) -> list[InboxEntry]:
    """Return the next entries after a mark in the queue (or before it, the nearest first)."""
    runs = [
        source.entries(wanted, now, mark=mark, limit=limit, is_back=is_back)
        for source in match_sources(sources, wanted)
    ]
    merged = heapq.merge(*runs, key=lambda entry: entry.mark, reverse=is_back)
    return list(islice(merged, limit))


def find_position(
    sources: Sequence[Source], wanted: InboxFilter, mark: Mark, now: datetime
) -> InboxPosition:
    """Return an item's position, or the one it would have if it has left the queue."""
    parts = read_by_plan(
        match_sources(sources, wanted),
        lambda some: [source.before(wanted, mark, now) for source in some],
    )
    counted = [pair for part in parts for pair in part]
    return InboxPosition(
        sum(total for total, _ in counted), 1 + sum(before for _, before in counted)
    )


def tallies_for(request: HttpRequest) -> dict[str, WaitingCount]:
    """Return the counts for the signed-in member, computed once a request."""
    known: dict[str, WaitingCount] | None = getattr(request, "inbox_tallies", None)
    if known is not None:
        return known
    staff = staff_or_none(request)
    found: dict[str, WaitingCount] = {}
    if staff is not None and has_workspace():
        found = tallies(sources_for(staff.actor.role), timezone.now())
    request.inbox_tallies = found  # type: ignore[attr-defined]
    return found


def count_waiting(request: HttpRequest) -> int:
    """Return how many items wait for the signed-in member, of all kinds."""
    return sum(tally.count for tally in tallies_for(request).values())
