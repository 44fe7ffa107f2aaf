"""The memories before and after others in their sessions: what one turn asks, the next answers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, Field, Func, OuterRef, QuerySet
from django.db.models.lookups import GreaterThan, LessThan

from engram.kernel.planning import Among
from memories.models import Memory

ORDER = ("observed_at", "created_at", "pk")
REACH = 2  # what stands around a memory, and around that


class _Row(Func):
    """A row of values: rows compare by their first difference, and an index serves that."""

    function = "ROW"
    output_field: Field[Any, Any] = Field()


def neighbours(
    recallable: QuerySet[Memory], ids: Collection[UUID]
) -> dict[UUID, tuple[list[UUID], list[UUID]]]:
    """Return the two recallable memories before and after each in its session, nearest first."""
    here = _Row(*ORDER)
    there = _Row(*(OuterRef(name) for name in ORDER))
    session = recallable.filter(session_key=OuterRef("session_key")).exclude(session_key="")
    before = session.filter(LessThan(here, there)).order_by(*(f"-{name}" for name in ORDER))
    after = session.filter(GreaterThan(here, there)).order_by(*ORDER)
    rows = (
        recallable.filter(Among(F("pk"), ids))
        .exclude(session_key="")
        .order_by()
        .values_list(
            "pk",
            ArraySubquery(before.values("pk")[:REACH]),
            ArraySubquery(after.values("pk")[:REACH]),
        )
    )
    return {memory_id: (previous, following) for memory_id, previous, following in rows}
