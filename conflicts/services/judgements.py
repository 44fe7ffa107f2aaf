"""What callers said of pairs, kept beside the cards that it led to."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from conflicts.core.records import together
from conflicts.models import Conflict, JudgedRelation, Judgement
from engram.kernel.actors import Actor
from memories.models import Memory


def of_pair(memory: Memory, other: Memory) -> QuerySet[Judgement]:
    """Return all judgements of two memories, whichever way round."""
    return Judgement.objects.filter(Q(memory=memory, other=other) | Q(memory=other, other=memory))


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
    if said != (memory.id, relation, reason):
        answer.memory, answer.other = memory, other
        answer.relation, answer.reason, answer.weight = relation, reason, weight
        answer.created_at = now
        answer.save()
    return answer


def against(memory: Memory, other: Memory) -> QuerySet[Judgement]:
    """Return what was said of two memories by those who say that they contradict each other."""
    return of_pair(memory, other).filter(relation=JudgedRelation.CONTRADICTS)


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
