"""The interface of a source of the inbox: its waiting items, their display and answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, NamedTuple, Self
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest

from engram.console.inbox.reservations import of_others
from engram.console.models import PutOff
from engram.kernel.actors import Actor
from engram.kernel.causes import NOT_UNDONE_HERE
from engram.kernel.labels import plural
from engram.kernel.literals import moment, whole_number
from engram.kernel.models import Role, Workspace
from engram.kernel.planning import by_index
from engram.kernel.refusals import InvalidError, MissingError, StaleError

SEVERITIES = ("high", "medium", "low")  # an item's urgency is the place in this list


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """Filters of the inbox; empty means any. `viewer_id` is the member who is given the items."""

    source: str = ""
    severity: str = ""
    scope: str = ""
    text: str = ""
    assignee_id: int | None = None
    viewer_id: int | None = None


class Mark(NamedTuple):
    """A sort key in the queue: the most urgent first, then conflicts, then the oldest."""

    urgency: int
    place: int
    since: datetime
    source: str
    id: UUID

    def __str__(self) -> str:
        return f"{self.urgency} {self.place} {self.since.isoformat()} {self.source} {self.id}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the mark that a text names; raise `ValueError` for an invalid one."""
        urgency, place, since, source, item = text.split(" ")
        rank = whole_number(urgency, least=0, most=len(SEVERITIES) - 1)
        return cls(rank, whole_number(place, least=0, most=1), moment(since), source, UUID(item))


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """A waiting item in the list; `title` contains no forgotten text."""

    mark: Mark
    kind: str
    title: str
    size: int = 1  # waiting items that it stands for, because one change caused them

    @property
    def key(self) -> str:
        """Return the item's key in addresses."""
        return f"{self.mark.source}:{self.mark.id}"

    @property
    def severity(self) -> str:
        """Return the severity's name."""
        return SEVERITIES[self.mark.urgency]


@dataclass(frozen=True, slots=True)
class WaitingCount:
    """The number of a source's waiting items, and the time of the oldest."""

    count: int = 0
    oldest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """An answer with a description of its effect; yes and no have the keys 1 and 2."""

    key: int
    name: str
    label: str
    effect: str
    tone: str = "calm"  # keep, drop or calm


@dataclass(frozen=True, slots=True)
class Done:
    """The decision about an item; who made it and when, "" and None if that is not recorded.

    `undo` says what undoing it does, "" if not possible. `memory` is the one that it left or
    changed, None without one.
    """

    words: str
    undo: str = ""
    by: str = ""
    at: datetime | None = None
    memory: UUID | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Waiting items of one entry, because one change caused them.

    `ids` are in the order of the queue, and as many as one answer takes; `total` counts all.
    `version` says what was changed, and comes back with the answer.
    """

    ids: tuple[UUID, ...]
    total: int
    version: int
    actions: Sequence[Action]


class Source(ABC):
    """A kind of item that waits for people. A new one is a module and a line in the registry."""

    name: ClassVar[str]
    noun: ClassVar[str]  # of one item, or of one and of many, as `kernel.labels.Count` takes it
    icon: ClassVar[str]
    template: ClassVar[str]
    teaches: ClassVar[str]  # when something of this kind appears
    sees: ClassVar[Role] = Role.READER
    acts: ClassVar[Role] = Role.REVIEWER
    place: ClassVar[int] = 1  # among the equally urgent; those of 0 come first
    announced_by: ClassVar[tuple[str, ...]] = ()  # the events of a new item
    settled_by: ClassVar[tuple[str, ...]] = ()  # the events that change the count
    has_own_snooze: ClassVar[bool] = False
    takes_note: ClassVar[bool] = False
    takes_content: ClassVar[bool] = False  # an answer may bring a text, edited in the card
    is_reserved: ClassVar[bool] = False  # what a member has on screen is not given to another
    counted: ClassVar[str] = "pk"  # the column whose different values are counted
    reads_by_index: ClassVar[bool] = False  # without settings the planner would read whole tables

    @abstractmethod
    def rows(self) -> QuerySet[Any]:
        """Return all items ever, annotated with `urgency` (0 is high) and `since`."""

    @abstractmethod
    def waiting(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return the waiting items that match the filter.

        They may depend on the arguments and on stored rows alone, and on `now` by comparison alone:
        `engram.console.inbox.counts` compiles their number once and keeps the statement.
        """

    @abstractmethod
    def titles(self, rows: Sequence[Any]) -> Mapping[UUID, tuple[str, str]]:
        """Return kind and title of each item, in a constant number of queries."""

    def short_titles(self, ids: Sequence[UUID]) -> Mapping[UUID, str]:
        """Return shorter titles for pages, by one query; none where titles are short."""
        return {}

    @abstractmethod
    def context(self, request: HttpRequest, row: Any, now: datetime) -> dict[str, Any]:
        """Return the template's context of an item."""

    def actions(self, row: Any, now: datetime) -> Sequence[Action]:
        """Return the answers in the order of their keys; none when the template has its own."""
        return ()

    def standing(self, row: Any, *, is_open: bool) -> str:
        """Return "" for an item that waits, else what became of it, in a word.

        `is_open` is whether `actions` has answers to it.
        """
        return "" if is_open else "decided"

    def verbs(self) -> Mapping[str, Callable[..., Any]]:
        """Return the service of each answer, by the answer's name; none without plain answers."""
        return {}

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
        """Apply an answer through the item's own service; raise a refusal if not possible."""
        verbs = self.verbs()
        if not verbs:
            raise MissingError("Nothing is answered this way here.")
        if action not in verbs:
            raise InvalidError("action", "Choose one of the answers.")
        told = {"note": note} if self.takes_note else {}
        verbs[action](workspace, item_id, **told, actor=actor, now=now)

    def answer(
        self,
        workspace: Workspace,
        item_id: UUID,
        sent: Mapping[str, str],
        *,
        actor: Actor,
        now: datetime,
    ) -> None:
        """Apply an answer with what was sent: `action`, `note`, and `content` where it is taken."""
        self.act(workspace, item_id, sent["action"], note=sent["note"], actor=actor, now=now)

    def find_decision(self, item_id: UUID, now: datetime) -> Done | None:
        """Return the decision about an item, None without one."""
        return None

    def group_of(self, row: Any, wanted: InboxFilter, now: datetime) -> Group | None:
        """Return the items that match and wait for the same reason as this one; None: no others."""
        return None

    def answer_together(
        self,
        workspace: Workspace,
        item_ids: Sequence[UUID],
        sent: Mapping[str, Any],
        *,
        actor: Actor,
        now: datetime,
    ) -> UUID:
        """Apply one answer to items of a group: `action`, `note`, and the group's `version`.

        Return one of the items that it answered, by which the answer is found and undone.
        """
        raise MissingError("Nothing is answered together here.")

    def undo(
        self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime
    ) -> str | None:
        """Undo the decision; raise a refusal when it is not possible.

        Return what to tell about it, if it is more than that it is undone.
        """
        raise StaleError("This cannot be taken back here.", cause=NOT_UNDONE_HERE)

    def plan_query(self, *, is_ordered: bool) -> AbstractContextManager[None]:
        """Set the planner for reading waiting items; `is_ordered`: only the first few in order."""
        return by_index() if self.reads_by_index else nullcontext()

    # What all sources share

    @property
    def title(self) -> str:
        """Return the name of the kind, the noun that its items are counted with."""
        return plural(self.noun).capitalize()

    def due_now(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return the waiting items without snoozed ones."""
        found = self.waiting(wanted, now)
        if self.has_own_snooze:
            return found
        put_off = PutOff.objects.filter(source=self.name, until__gt=now)
        return found.exclude(pk__in=put_off.values("item"))

    def to_count(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return the rows that are counted, by the different values of the column `counted`."""
        return self.due_now(wanted, now)

    def before(self, wanted: InboxFilter, mark: Mark, now: datetime) -> tuple[int, int]:
        """Return the number of waiting items, and of those before a mark in the queue."""
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
        """Return the next entries after a mark in the queue (or before it, the nearest first)."""
        found = self.due_now(wanted, now).order_by("urgency", "since", "pk")
        if self.is_reserved and wanted.viewer_id is not None:
            taken = of_others(self.name, wanted.viewer_id, now)
            found = found.exclude(pk__in=taken.values("item"))
        if mark is not None:
            found = found.filter(self._beyond(mark, is_back=is_back))
        with self.plan_query(is_ordered=True):
            rows = list(found.reverse()[:limit] if is_back else found[:limit])
        return self.as_entries(rows, wanted, now)

    def as_entries(
        self, rows: Sequence[Any], wanted: InboxFilter, now: datetime
    ) -> list[InboxEntry]:
        """Return items as the queue lists them under a filter."""
        titles = self.titles(rows) if rows else {}
        return [InboxEntry(self.mark_of(row), *titles[row.pk]) for row in rows]

    def mark_of(self, row: Any) -> Mark:
        """Return an item's mark."""
        return Mark(row.urgency, self.place, row.since, self.name, row.pk)

    def _beyond(self, mark: Mark, *, is_back: bool) -> Q:
        than = "lt" if is_back else "gt"
        found, tie = Q(**{f"urgency__{than}": mark.urgency}), Q(urgency=mark.urgency)
        if self.place != mark.place:
            return found | tie if (self.place < mark.place) == is_back else found
        found |= tie & Q(**{f"since__{than}": mark.since})
        same_time = tie & Q(since=mark.since)
        if self.name == mark.source:
            return found | same_time & Q(**{f"pk__{than}": mark.id})
        if (self.name < mark.source) == is_back:
            return found | same_time
        return found
