"""Read what callers said of pairs of memories, as far as it is about their current texts."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from uuid import UUID

from django.db.models import Max, Q, QuerySet

from conflicts.models import JudgedRelation, Judgement
from memories.models import Memory, Revision
from memories.services.lifecycle.replace import rejected_replacements
from memories.services.lifecycle.rollback_replaced import replacements_taken_back


def of_pair(memory: Memory, other: Memory) -> QuerySet[Judgement]:
    """Return all judgements of two memories, in either order."""
    return Judgement.objects.filter(Q(memory=memory, other=other) | Q(memory=other, other=memory))


def of_current_texts(memory: Memory, other: Memory) -> QuerySet[Judgement]:
    """Return the judgements of two memories that were made about their current texts."""
    judged = of_pair(memory, other)
    changed = _last_change(memory, other)
    return judged if changed is None else judged.filter(created_at__gte=changed)


def _last_change(memory: Memory, other: Memory) -> datetime | None:
    """Return when one of the texts last changed to the current one; None when neither did."""
    now = Q(memory=memory, content=memory.content) | Q(memory=other, content=other.content)
    before = Revision.objects.filter(memory__in=[memory, other]).exclude(now)
    changed: datetime | None = before.aggregate(at=Max("created_at"))["at"]
    return changed


def replaced_pairs(ids: Collection[UUID]) -> set[frozenset[UUID]]:
    """Return the pairs among memories of which one replaces the other, as a caller said.

    The answer is about their current texts, and no person has rejected it or rolled it back.
    """
    said = Judgement.objects.filter(relation=JudgedRelation.REPLACES, memory__in=ids, other__in=ids)
    current = [
        one
        for one in said.select_related("memory", "other")
        if of_current_texts(one.memory, one.other).filter(pk=one.pk).exists()
    ]
    others = [one.other_id for one in current]
    refused = rejected_replacements(others)
    taken_back = replacements_taken_back(others) if others else {}
    return {
        frozenset((one.memory_id, one.other_id))
        for one in current
        if (one.other_id, one.memory_id) not in refused
        and one.created_at > taken_back.get(one.other_id, datetime.min.replace(tzinfo=UTC))
    }
