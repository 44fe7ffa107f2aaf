"""What a source of the inbox says of itself: what waits, how it is shown, what one may answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

from django.db.models import Count, Min, Q, QuerySet
from django.http import HttpRequest

from engram.console.models import PutOff
from engram.kernel.actors import Actor
from engram.kernel.causes import NOT_UNDONE_HERE
from engram.kernel.models import Role, Workspace
from engram.kernel.planning import by_index
from engram.kernel.refusals import MissingError, StaleError

SEVERITIES = ("high", "medium", "low")  # an item's urgency is the place in this list


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """Which items somebody wants to see; empty means any."""

    source: str = ""
    severity: str = ""
    scope: str = ""
    text: str = ""
    assignee_id: int | None = None


class Mark(NamedTuple):
    """A place in the queue: the most urgent first, of these what has waited longest."""

    urgency: int
    since: datetime
    source: str
    id: UUID


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """One waiting item in a word or two; `title` shows nothing that was forgotten."""

    mark: Mark
    kind: str
    title: str

    @property
    def key(self) -> str:
        """Return what the address calls the item."""
        return f"{self.mark.source}:{self.mark.id}"

    @property
    def severity(self) -> str:
        """Return how urgent it is, in a word."""
        return SEVERITIES[self.mark.urgency]


@dataclass(frozen=True, slots=True)
class WaitingCount:
    """How much of a source waits, and since when."""

    count: int = 0
    oldest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """One answer, its effect said beforehand; where yes and no are asked they are keys 1 and 2."""

    key: int
    name: str
    label: str
    effect: str
    tone: str = "calm"  # keep, drop or calm


@dataclass(frozen=True, slots=True)
class Done:
    """What was done with an item; `undo` says what taking it back does, empty when one cannot."""

    words: str
    undo: str = ""


class Source(ABC):
    """One kind of thing that waits for people. A new one is a module and a line in the registry."""

    name: ClassVar[str]
    title: ClassVar[str]
    icon: ClassVar[str]
    template: ClassVar[str]
    teaches: ClassVar[str]  # when something of this kind appears
    sees: ClassVar[Role] = Role.READER
    acts: ClassVar[Role] = Role.REVIEWER
    announced_by: ClassVar[tuple[str, ...]] = ()  # the events that tell of a new item
    settled_by: ClassVar[tuple[str, ...]] = ()  # the events after which another number waits
    has_own_snooze: ClassVar[bool] = False
    takes_note: ClassVar[bool] = False
    reads_by_index: ClassVar[bool] = False  # left alone, the planner would read whole tables

    @abstractmethod
    def rows(self) -> QuerySet[Any]:
        """Return all items ever, annotated with `urgency` (0 is high) and `since`."""

    @abstractmethod
    def waiting(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return those of them that wait and are wanted."""

    @abstractmethod
    def titles(self, rows: Sequence[Any]) -> Mapping[UUID, tuple[str, str]]:
        """Return the kind and the title of each item, with the same queries for 1 and for 100."""

    @abstractmethod
    def context(self, request: HttpRequest, row: Any, now: datetime) -> dict[str, Any]:
        """Return what the template shows of an item."""

    def actions(self, row: Any, now: datetime) -> Sequence[Action]:
        """Return the answers in the order of their keys; none when the template has its own."""
        return ()

    def act(
        self,
        workspace: Workspace,
        item_id: UUID,
        action: str,
        *,
        note: str,
        actor: Actor,
        now: datetime,
    ) -> None:
        """Carry out an answer through the item's own service; raise a refusal when it cannot be."""
        raise MissingError("Nothing is answered this way here.")

    def done(self, item_id: UUID, now: datetime) -> Done | None:
        """Return what was decided about an item, when something was."""
        return None

    def undo(self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime) -> None:
        """Take back what was decided; raise a refusal when it cannot be."""
        raise StaleError("This cannot be taken back here.", cause=NOT_UNDONE_HERE)

    def plan_query(self, *, is_ordered: bool) -> AbstractContextManager[None]:
        """Tell the planner how to read what waits, where it would not guess; `is_ordered`: a few
        of it, first come first."""
        return by_index() if self.reads_by_index else nullcontext()

    # What all sources share

    def due_now(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return what waits and is not put off."""
        found = self.waiting(wanted, now)
        if self.has_own_snooze:
            return found
        put_off = PutOff.objects.filter(source=self.name, until__gt=now)
        return found.exclude(pk__in=put_off.values("item"))

    def tally(self, wanted: InboxFilter, now: datetime) -> WaitingCount:
        """Count what waits."""
        found = self.due_now(wanted, now).order_by()
        with self.plan_query(is_ordered=False):
            return WaitingCount(**found.aggregate(count=Count("pk"), oldest=Min("since")))

    def before(self, wanted: InboxFilter, mark: Mark, now: datetime) -> tuple[int, int]:
        """Return how many wait, and how many of them before a place in the queue."""
        found = self.due_now(wanted, now).order_by()
        before = Count("pk", filter=self._beyond(mark, is_back=True))
        with self.plan_query(is_ordered=False):
            counted = found.aggregate(total=Count("pk"), before=before)
        return counted["total"], counted["before"]

    def entries(
        self,
        wanted: InboxFilter,
        now: datetime,
        *,
        mark: Mark | None,
        limit: int,
        is_back: bool = False,
    ) -> list[InboxEntry]:
        """Return what comes next after a place in the queue (or before it, the nearest first)."""
        found = self.due_now(wanted, now).order_by("urgency", "since", "pk")
        if mark is not None:
            found = found.filter(self._beyond(mark, is_back=is_back))
        with self.plan_query(is_ordered=True):
            rows = list(found.reverse()[:limit] if is_back else found[:limit])
        return self.as_entries(rows)

    def as_entries(self, rows: Sequence[Any]) -> list[InboxEntry]:
        """Return items as the queue lists them."""
        titles = self.titles(rows) if rows else {}
        return [InboxEntry(self.mark_of(row), *titles[row.pk]) for row in rows]

    def mark_of(self, row: Any) -> Mark:
        """Return where an item stands."""
        return Mark(row.urgency, row.since, self.name, row.pk)

    def _beyond(self, mark: Mark, *, is_back: bool) -> Q:
        than = "lt" if is_back else "gt"
        tie = Q(urgency=mark.urgency)
        found = Q(**{f"urgency__{than}": mark.urgency}) | tie & Q(**{f"since__{than}": mark.since})
        same_time = tie & Q(since=mark.since)
        if self.name == mark.source:
            return found | same_time & Q(**{f"pk__{than}": mark.id})
        if (self.name < mark.source) == is_back:
            return found | same_time
        return found
