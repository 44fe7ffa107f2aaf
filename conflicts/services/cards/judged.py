"""Read what callers said of pairs of memories, as far as it is about their current texts."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from conflicts.models import JudgedRelation, Judgement
from memories.models import Memory, Revision
from memories.services.lifecycle.replace import rejected_replacements
from memories.services.lifecycle.rollback_replaced import replacements_taken_back


def of_pair(memory: Memory, other: Memory) -> QuerySet[Judgement]:
    """Return all judgements of two memories, in either order."""
    return Judgement.objects.filter(Q(memory=memory, other=other) | Q(memory=other, other=memory))


def of_current_texts(memory: Memory, other: Memory) -> QuerySet[Judgement]:
    """Return the judgements of two memories that were made about their current texts."""
    return of_pair(memory, other).filter(_unchanged())


def _unchanged() -> Q:
    """Return the condition that no text of a judgement has changed to the current one since."""
    later = Revision.objects.filter(created_at__gt=OuterRef("created_at"))
    others = later.exclude(content=F("memory__content")).order_by()
    return Q(
        ~Exists(others.filter(memory=OuterRef("memory"))),
        ~Exists(others.filter(memory=OuterRef("other"))),
    )


def replaced_pairs(ids: Collection[UUID]) -> set[frozenset[UUID]]:
    """Return the pairs among memories of which one replaces the other, as a caller said.

    The answer is about their current texts, and no person has rejected it or rolled it back. The
    same queries for any number of pairs: the filing of findings is locked meanwhile.
    """
    said = Judgement.objects.filter(relation=JudgedRelation.REPLACES, memory__in=ids, other__in=ids)
    current = list(said.filter(_unchanged()).order_by())
    others = [one.other_id for one in current]
    refused = rejected_replacements(others)
    taken_back = replacements_taken_back(others) if others else {}
    return {
        frozenset((one.memory_id, one.other_id))
        for one in current
        if (one.other_id, one.memory_id) not in refused
        and one.created_at > taken_back.get(one.other_id, datetime.min.replace(tzinfo=UTC))
    }
