"""Store callers' judgements of pairs of memories, linked to the cards they led to."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from conflicts.models import Conflict, JudgedRelation, Judgement
from conflicts.services.cards.judged import of_current_texts, of_pair
from engram.kernel.actors import Actor
from memories.core.track_records import together
from memories.models import Memory
from memories.services.asks.answer import close_asks
from memories.services.review.trust import PERSONS_ROLES


def by_agents() -> Q:
    """Match the judgements of keys that do not count as a person's; only agents have a record."""
    return Q(key__isnull=False) & ~Q(key__role__in=PERSONS_ROLES)


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
    """Store a judgement; it replaces the same caller's earlier one of the pair.

    Nobody is asked about the pair any more.
    """
    close_asks(memory, other, now=now)
    before = of_pair(memory, other).filter(key=actor.key_id, agent=actor.label).first()
    answer = before or Judgement(key_id=actor.key_id, agent=actor.label)
    stored = (answer.memory_id, answer.relation, answer.reason)
    is_current = of_current_texts(memory, other).filter(pk=answer.pk).exists()
    if stored != (memory.id, relation, reason) or not is_current:
        answer.memory, answer.other = memory, other
        answer.relation, answer.reason, answer.weight = relation, reason, weight
        answer.created_at = now
        answer.save()
    return answer


def own_answer(memory: Memory, other: Memory, relation: str, *, actor: Actor) -> Judgement | None:
    """Return the caller's stored answer about a pair, if it says this of the two in this order."""
    own = Judgement.objects.filter(key=actor.key_id, agent=actor.label)
    return own.filter(memory=memory, other=other, relation=relation).first()


def contradictions(memory: Memory, other: Memory) -> QuerySet[Judgement]:
    """Return the judgements that the current texts of two memories contradict each other."""
    return of_current_texts(memory, other).filter(relation=JudgedRelation.CONTRADICTS)


def link(card: Conflict, memory: Memory, other: Memory) -> None:
    """Link the contradictions of a pair to its card, and raise the card's confidence.

    The confidence is the probability that not all of the judging callers are wrong; it never falls.
    """
    contradictions(memory, other).update(conflict=card)
    linked = Judgement.objects.filter(
        by_agents(), conflict=card, relation=JudgedRelation.CONTRADICTS
    )
    best: dict[UUID | None, float] = {}
    for key, weight in linked.order_by().values_list("key_id", "weight"):
        best[key] = max(best.get(key, 0.0), weight)
    confidence = round(together(best.values()), 3)
    if confidence > card.confidence:
        card.confidence = confidence
        card.save(update_fields=["confidence"])
