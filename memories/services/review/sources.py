"""Find the forgotten sources of a summary, without their texts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from engram.kernel.models import Event
from memories.models import Memory, Review, ReviewKind

MOST_SHOWN: Final = 20
_FORGOTTEN: Final = "memory.forgotten"
_READ: Final = ("observed_at", "forgotten_at", "agent", "scope")


@dataclass(frozen=True, slots=True)
class ForgottenSource:
    """A source by its id; times and names are None or "" where nothing of it is kept."""

    id: UUID
    observed_at: datetime | None = None
    forgotten_at: datetime | None = None
    agent: str = ""
    scope: str = ""
    by: str = ""

    @property
    def is_kept(self) -> bool:
        """Return whether its row is kept: an erased memory has none."""
        return self.observed_at is not None


def forgotten_sources(review: Review) -> list[ForgottenSource]:
    """Return the sources that a review of their summary names, by two queries; else none."""
    if review.kind != ReviewKind.SOURCE_FORGOTTEN:
        return []
    ids = [UUID(source) for source in review.request.get("sources", [])[:MOST_SHOWN]]
    kept = {row.pk: row for row in Memory.objects.filter(pk__in=ids).only(*_READ)}
    told = Event.objects.filter(type=_FORGOTTEN, object_id__in=[str(pk) for pk in kept])
    by = dict(told.order_by("seq").values_list("object_id", "actor_label"))
    return [_source(pk, kept.get(pk), by.get(str(pk), "")) for pk in ids]


def _source(pk: UUID, row: Memory | None, by: str) -> ForgottenSource:
    if row is None:
        return ForgottenSource(pk)
    return ForgottenSource(pk, row.observed_at, row.forgotten_at, row.agent, row.scope, by)
