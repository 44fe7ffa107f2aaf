"""Look up the open conflicts of memories through callables named in the settings.

`settings.ENGRAM_RECALL_ANNOTATORS` names callables that take ids of memories and return the open
conflicts of each; `settings.ENGRAM_DISPUTED_PAIRS` names one callable that returns the filter for a
query over pairs of memories, and `settings.ENGRAM_CARDED_PAIRS` that for pairs which people are
asked about or have decided.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol, cast
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Left
from django.utils.module_loading import import_string

from memories.core.briefing import EXCERPT_MAX_CHARS, excerpt
from memories.models import Memory


class OpenConflict(NamedTuple):
    """An open conflict that a memory takes part in; `opposing` are the members against it."""

    id: UUID
    opposing: Sequence[UUID]


class Opposite(NamedTuple):
    """A memory that contradicts another; a long text is cut and ends in an ellipsis."""

    id: UUID
    content: str
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class Dispute:
    """The open conflicts of a memory, and the newest memory that contradicts it.

    `contradicted_by` is None while no contradicting memory can be recalled.
    """

    conflicts: Sequence[UUID] = ()
    contradicted_by: Opposite | None = None

    def is_by_a_later_one(self, observed_at: datetime) -> bool:
        """Return whether a memory that was observed later than this contradicts it."""
        against = self.contradicted_by
        return against is not None and against.observed_at > observed_at

    @property
    def chars(self) -> int:
        """Return the number of characters quoted from other memories."""
        return len(self.contradicted_by.content) if self.contradicted_by else 0


UNDISPUTED = Dispute()


class Annotator(Protocol):
    """A callable named by ENGRAM_RECALL_ANNOTATORS; it is called within `in_workspace()`."""

    def __call__(self, memory_ids: Collection[UUID], /) -> Mapping[UUID, Sequence[OpenConflict]]:
        """Return the open conflicts of those memories that have any."""


def disputes_of(memory_ids: Collection[UUID]) -> dict[UUID, list[UUID]]:
    """Return the ids of the open conflicts of each disputed memory."""
    return {i: [one.id for one in found] for i, found in _open_conflicts(memory_ids).items()}


def shared_conflicts(
    one: UUID, other: UUID, disputes: Mapping[UUID, Sequence[UUID]] | None = None
) -> list[UUID]:
    """Return the open conflicts that both memories are members of.

    `disputes` is the result of `disputes_of` for the two, if the caller has it.
    """
    known = disputes_of([one, other]) if disputes is None else disputes
    conflicts_of_other = set(known.get(other, ()))
    return [conflict for conflict in known.get(one, ()) if conflict in conflicts_of_other]


def in_one_conflict(one: str, other: str) -> Q:
    """Return the filter for pairs of memories in one open conflict.

    `one` and `other` are the field paths of the two memories in the query.
    """
    return cast("Q", import_string(settings.ENGRAM_DISPUTED_PAIRS)(one, other))


def have_card(one: str, other: str) -> Q:
    """Return the filter for pairs about which people are asked, or were asked and decided.

    `one` and `other` are the field paths of the two memories in the query.
    """
    return cast("Q", import_string(settings.ENGRAM_CARDED_PAIRS)(one, other))


def disputes_with_quotes(memory_ids: Collection[UUID], *, now: datetime) -> dict[UUID, Dispute]:
    """Return the dispute of each disputed memory, quoting the newest recallable opposing memory."""
    conflicts = _open_conflicts(memory_ids)
    opposing = {i for found in conflicts.values() for one in found for i in one.opposing}
    quotes = _quotes(opposing, now) if opposing else {}
    answer = {}
    for memory_id, found in conflicts.items():
        against = {i for one in found for i in one.opposing}
        newest = next((quote for i, quote in quotes.items() if i in against), None)
        answer[memory_id] = Dispute([one.id for one in found], newest)
    return answer


def _open_conflicts(memory_ids: Collection[UUID]) -> dict[UUID, list[OpenConflict]]:
    found: dict[UUID, list[OpenConflict]] = {}
    if not memory_ids:
        return found
    for name in settings.ENGRAM_RECALL_ANNOTATORS:
        annotate = cast("Annotator", import_string(name))
        for memory_id, conflicts in annotate(memory_ids).items():
            found.setdefault(memory_id, []).extend(conflicts)
    return found


def _quotes(memory_ids: Collection[UUID], now: datetime) -> dict[UUID, Opposite]:
    """Return excerpts of those memories that can be recalled, newest first."""
    readable = Memory.objects.recallable(now).filter(pk__in=memory_ids)
    rows = readable.order_by("-observed_at", "-created_at", "pk").values_list(
        "pk", Left("content", EXCERPT_MAX_CHARS + 1), "observed_at"
    )
    return {i: Opposite(i, excerpt(content), at) for i, content, at in rows}
