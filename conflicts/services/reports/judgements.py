"""What callers said of pairs, kept beside the cards that it led to."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import Max, Q, QuerySet

from conflicts.core.records import together
from conflicts.models import Conflict, JudgedRelation, Judgement
from engram.kernel.actors import Actor
from memories.models import Memory, Revision


def of_pair(memory: Memory, other: Memory) -> QuerySet[Judgement]:
    """Return all judgements of two memories, whichever way round."""
    return Judgement.objects.filter(Q(memory=memory, other=other) | Q(memory=other, other=memory))


def of_words(memory: Memory, other: Memory) -> QuerySet[Judgement]:
    """Return the judgements of two memories that were made about what both say now."""
    said = of_pair(memory, other)
    changed = _last_change(memory, other)
    return said if changed is None else said.filter(created_at__gte=changed)


def _last_change(memory: Memory, other: Memory) -> datetime | None:
    """Return when one of two memories last came to say what it says; None when both always did."""
    now = Q(memory=memory, content=memory.content) | Q(memory=other, content=other.content)
    before = Revision.objects.filter(memory__in=[memory, other]).exclude(now)
    changed: datetime | None = before.aggregate(at=Max("created_at"))["at"]
    return changed


def keep(
    memory: Memory,
    other: Memory,
    relation: str,
    *,
    reason: str,
    weight: float,
    actor: Actor,
    now: datetime,
) -> Judgement:
    """Keep an answer; it replaces what the same caller said of the pair before."""
    before = of_pair(memory, other).filter(key=actor.key_id, agent=actor.label).first()
    answer = before or Judgement(key_id=actor.key_id, agent=actor.label)
    said = (answer.memory_id, answer.relation, answer.reason)
    is_of_words = of_words(memory, other).filter(pk=answer.pk).exists()
    if said != (memory.id, relation, reason) or not is_of_words:
        answer.memory, answer.other = memory, other
        answer.relation, answer.reason, answer.weight = relation, reason, weight
        answer.created_at = now
        answer.save()
    return answer


def against(memory: Memory, other: Memory) -> QuerySet[Judgement]:
    """Return what was said of what two memories say now: that they contradict each other."""
    return of_words(memory, other).filter(relation=JudgedRelation.CONTRADICTS)


def link(card: Conflict, memory: Memory, other: Memory) -> None:
    """Let all that was said against a pair count for its card, and tell the card how sure it is.

    The confidence is that not every one of those who say so is wrong; it never sinks.
    """
    against(memory, other).update(conflict=card)
    told = Judgement.objects.filter(
        conflict=card, relation=JudgedRelation.CONTRADICTS, key__isnull=False
    )
    best: dict[UUID | None, float] = {}
    for key, weight in told.order_by().values_list("key_id", "weight"):
        best[key] = max(best.get(key, 0.0), weight)
    confidence = round(together(best.values()), 3)
    if confidence > card.confidence:
        card.confidence = confidence
        card.save(update_fields=["confidence"])
